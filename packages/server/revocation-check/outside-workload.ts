/**
 * The workload of a revocation check from outside: it creates, verifies and deletes canary keys over HTTP with a credential that
 * can do nothing else. Scenarios that need more rights are named in `notCovered`.
 */
import { setTimeout } from 'node:timers/promises';
import { monotonicMs, systemClock } from '../src/foundation/clock.ts';
import {
  CanaryKeySource,
  CanarySession,
  codeOf,
  readDescription,
  type Description,
  type ProcessDescription,
} from './canary-credential.ts';
import { Checker } from './checker.ts';
import { DeletionScenario } from './deletion-scenario.ts';
import { Instance, messageOf, type HttpResponse } from './instance.ts';
import { Prober } from './prober.ts';
import type { Report } from './report.ts';
import { describeRequest } from './verification-methods.ts';

export interface OutsideWorkloadOptions {
  /** Base URLs. */
  readonly urls: readonly string[];
  readonly credential: string;
  /** Verifications in progress at a time, approximately. */
  readonly concurrency: number;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
}

/** What the check records about an instance besides verifications. */
export interface Observed {
  readonly processes: Map<string, ProcessDescription>;
  /** The instance's clock minus that of this machine, in milliseconds, accurate to half of a round trip. */
  clockDifferenceMs: number;
}

/** What a run with the credential of a revocation check does not verify. */
export const notCovered = [
  'keys of callers (scope keyreeve:verify), and imported keys',
  'disabling of accounts and of keys',
  'changes of scopes, IP ranges and expiry; rotations; leaked secrets; public keys, trusts, issuers and short-lived secrets',
  'scope catalogue and entitlements',
  'the audit log',
  'a response 200 of /auth/forward: no proxy accepts canary keys, so a valid one gets 403, and a deleted one 401',
] as const;

const timeoutMsDefault = 10_000;
const loopsMax = 4;
/** Together they have fewer keys than an account may have by default. */
const scenariosMax = 16;
const probesMax = 24;
/** Time for preparation and removal, and the tolerated difference of the clocks. */
const marginSeconds = 60;
const pauseMs = 50;

export class OutsideWorkload {
  readonly instances: readonly Instance[];
  readonly checker = new Checker();
  readonly session: CanarySession;
  readonly observed = new Map<string, Observed>();
  #credential: Description['credential'] | undefined;
  #source: CanaryKeySource | undefined;
  #prober: Prober | undefined;
  #scenarios: readonly DeletionScenario[] = [];
  readonly #options: OutsideWorkloadOptions;

  constructor(options: OutsideWorkloadOptions) {
    this.#options = options;
    const { timeoutMs = timeoutMsDefault } = options;
    this.instances = options.urls.map((url) => new Instance(url, timeoutMs));
    this.session = new CanarySession(options.credential);
  }

  get credential(): Pick<Description['credential'], 'keyId' | 'expiresAt'> | undefined {
    return this.#credential;
  }

  /** The limit of new keys was reached, so the run ended early. */
  get isExhausted(): boolean {
    return this.#source?.isExhausted ?? false;
  }

  /** @param seconds of the run @returns what prevents the check, for the operator; empty if nothing does */
  async findObstacles(seconds: number): Promise<readonly string[]> {
    const found = await Promise.all(this.instances.map((instance) => this.#findObstacle(instance, seconds)));
    const obstacles = [...found.filter((obstacle) => obstacle !== undefined), ...this.findSameInstances()];
    if (obstacles.length > 0 || !this.#credential) return [...new Set(obstacles)];
    return this.#prepare(this.#credential);
  }

  /** Ends at the signal, after the last deletion, at the limit of new keys, or when the credential is rejected. */
  async run(signal: AbortSignal, deletionsMax = Infinity): Promise<void> {
    const { concurrency } = this.#options;
    const source = this.#source;
    const prober = this.#prober;
    if (!source || !prober) throw new Error('findObstacles prepares the run');
    const count = Math.min(scenariosMax, Math.max(1, Math.round(concurrency / loopsMax)));
    let hasFailed = false;
    const options = {
      instances: this.instances,
      checker: this.checker,
      prober,
      loops: Math.max(1, Math.round(concurrency / count)),
      probesMax,
      isOver: () =>
        hasFailed ||
        signal.aborted ||
        source.isExhausted ||
        this.session.isRejected ||
        this.#isKeyTooOld() ||
        this.checker.deletions >= deletionsMax,
      newSource: async () => {
        await setTimeout(pauseMs);
        return source;
      },
      kinds: ['created'] as const,
    };
    this.#scenarios = Array.from({ length: count }, () => new DeletionScenario(source, options));
    const running = this.#scenarios.map((scenario) => scenario.run());
    // All must end before the keys are deleted, even if one fails.
    await Promise.allSettled(running.map((one) => one.catch(() => (hasFailed = true))));
    await Promise.all(running);
  }

  /** Called once, after the run. */
  async finish(): Promise<Report> {
    const [scenario] = this.#scenarios;
    const source = this.#source;
    if (scenario && source) await Promise.all(this.instances.map((instance) => scenario.list(source, instance)));
    return this.checker.finish();
  }

  /** @returns the ids of canary keys that could not be deleted */
  async deleteKeys(): Promise<readonly number[]> {
    return (await this.#source?.deleteAll()) ?? [];
  }

  close(): void {
    for (const instance of this.instances) instance.close();
  }

  async #findObstacle(instance: Instance, seconds: number): Promise<string | undefined> {
    const { url } = instance;
    let response: HttpResponse;
    const startedAt = systemClock.now();
    try {
      response = await this.session.request(instance, 'GET', this.session.keysPath);
    } catch (error) {
      return `${url} cannot be reached: ${messageOf(error)}`;
    }
    const middle = (startedAt + systemClock.now()) / 2;
    const answer = obstacleOfResponse(url, response);
    if (answer !== undefined) return answer;
    if (instance.cachedResponses > 0) return cacheObstacle(url);
    let description: Description;
    try {
      description = readDescription(response.text);
    } catch (error) {
      return `${url} is no instance of Keyreeve: ${messageOf(error)}`;
    }
    this.#credential = description.credential;
    this.session.account = { id: description.credential.accountId };
    this.#describe(instance, description, middle);
    const { expiresAt } = description.credential;
    const secondsLeft = (Date.parse(expiresAt) - Date.parse(description.instance.now)) / 1_000;
    if (secondsLeft >= seconds + marginSeconds) return undefined;
    return `the credential expires at ${expiresAt}, before the run can end: a run of ${seconds} s needs ${seconds + marginSeconds} s; issue another one, or choose fewer --seconds`;
  }

  /** Creates a key, and sends one request of each kind to each instance. */
  async #prepare({ keyId, accountId }: Description['credential']): Promise<readonly string[]> {
    const { checker, instances } = this;
    const caller = { id: keyId, secret: this.#options.credential, accountId, kind: 'caller' } as const;
    const prober = new Prober(instances, checker, caller);
    // As a key of another account: lists of canary keys do not contain the credential.
    checker.addKey(keyId, `${accountId} (credential)`, monotonicMs(), 'caller');
    const onDescribed = (instance: Instance, description: Description): void => this.#describe(instance, description);
    const source = new CanaryKeySource(this.session, { instances, checker, prober, onDescribed });
    this.#prober = prober;
    this.#source = source;
    const key = await source.newKey();
    if (!key)
      return [
        source.isExhausted
          ? 'the credential has reached its limit of canary keys in an hour'
          : 'no canary key can be created: the limit of keys is reached, or the instances do not accept changes',
      ];
    const found = prober.targetsOf(key).map(async ({ instance, method }) => {
      const request = method.request([key], caller);
      const name = `${instance.url} (${describeRequest(method, request)})`;
      try {
        const response = await instance.send(request);
        if (method.read(response, [key])[0] === 'accepted') return undefined;
        return `${name} returns ${response.status} for a new canary key: is another program in front of the instance, or does the instance use another database?`;
      } catch (error) {
        return `${name} cannot verify a canary key: ${messageOf(error)}`;
      }
    });
    return (await Promise.all(found)).filter((obstacle) => obstacle !== undefined);
  }

  #describe(instance: Instance, { instance: { now, ...process } }: Description, at?: number): void {
    const observed = this.observed.get(instance.url) ?? { processes: new Map(), clockDifferenceMs: 0 };
    observed.processes.set(process.id, process);
    if (at !== undefined) observed.clockDifferenceMs = Math.round(Date.parse(now) - at);
    this.observed.set(instance.url, observed);
  }

  /** @returns pairs of URLs behind which the same process answered */
  findSameInstances(): string[] {
    const seen = new Map<string, string>();
    const found: string[] = [];
    for (const [url, { processes }] of this.observed) {
      const other = [...processes.keys()].map((id) => seen.get(id)).find((before) => before !== undefined);
      if (other !== undefined) found.push(`${other} and ${url} reach the same instance`);
      for (const id of processes.keys()) seen.set(id, url);
    }
    return found;
  }

  /** The first live key is the oldest. Its deletion has had no outcome for most of its lifetime. */
  #isKeyTooOld(): boolean {
    for (const { usableUntilMs = Infinity } of this.#prober?.live ?? []) return usableUntilMs <= monotonicMs();
    return false;
  }
}

export const cacheObstacle = (url: string): string =>
  `a cache answered for ${url} (header Age, Cache-Status or X-Cache): responses of Keyreeve must not be cached`;

/** @returns undefined for a response 200 */
function obstacleOfResponse(url: string, response: HttpResponse): string | undefined {
  const { status, headers } = response;
  if (status === 200) return undefined;
  if (status >= 300 && status < 400)
    return `${url} redirects to ${originOf(headers.location, url)}: name the URL that answers, because the credential is not sent to another one`;
  if (status === 401)
    return `${url} rejects the credential: it is wrong, has expired or was deleted, or the instance uses another database`;
  if (status === 404) return `${url} is no instance of Keyreeve, or its version is older than this command (404)`;
  return `${url} returns ${status} ${codeOf(response) ?? ''}`.trimEnd();
}

/** A location may have a secret in its path or query. */
function originOf(location: string | undefined, base: string): string {
  const target = URL.parse(location ?? '', base);
  return target === null ? 'an unknown place' : target.origin;
}
