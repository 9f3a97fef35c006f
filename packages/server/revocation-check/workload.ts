/**
 * The workload of a proof: canary keys are verified at every instance in every way while they are deleted through one
 * of them, accounts are disabled and enabled, and the checker judges what was seen. Instances and the database may
 * fail meanwhile: what has no answer has an unknown outcome, and is tried again elsewhere.
 */
import { setTimeout } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import { AccountSession } from './account-session.ts';
import { Prober } from './prober.ts';
import type { Canaries, CanaryAccount, CanaryKey } from './canaries.ts';
import { Checker } from './checker.ts';
import { DeletionScenario, type ScenarioOptions } from './deletion-scenario.ts';
import { runDisablingScenario } from './disabling-scenario.ts';
import { Instance } from './instance.ts';
import { describeRequest } from './questions.ts';
import type { Report } from './report.ts';

export interface WorkloadOptions {
  /** Base addresses. */
  readonly instances: readonly string[];
  readonly canaries: Canaries;
  /** Verifications under way at once, more or less. */
  readonly concurrency: number;
  /** An answer that takes longer counts as lost. */
  readonly timeoutMs?: number;
  /** Verifications around each deletion; fewer make more deletions. */
  readonly asksMax?: number;
  /** Clients that do nothing but ask for many keys at once, beside the others. */
  readonly floods?: number;
}

export interface RunOptions {
  /** Ends the run: what was begun is brought to its end. */
  readonly signal: AbortSignal;
  /** Ends it as well, once so many deletions have been acknowledged. */
  readonly deletionsMax?: number;
  /** After each acknowledged deletion. */
  readonly onDeleted?: (deletions: number) => void;
}

const timeoutMsDefault = 10_000;
const askersPerLane = 4;
const asksMaxDefault = 24;

export class Workload {
  readonly instances: readonly Instance[];
  readonly checker = new Checker();
  readonly #canaries: Canaries;
  readonly #asker: Prober;
  /** Of the account that owns the service’s key. */
  readonly #session: AccountSession;
  readonly #service: CanaryKey;
  readonly #deletionLanes: number;
  readonly #asksMax: number;
  readonly #floods: number;
  #lanes: readonly DeletionScenario[] = [];

  /** Makes what it needs on its own side; no instance is asked yet. @throws DomainError */
  static async prepare(options: WorkloadOptions): Promise<Workload> {
    const { canaries } = options;
    const owner = await canaries.newAccount();
    return new Workload(options, owner, await canaries.newCallerKey(owner.id));
  }

  private constructor(options: WorkloadOptions, owner: CanaryAccount, service: CanaryKey) {
    const { instances, canaries, concurrency, timeoutMs = timeoutMsDefault } = options;
    this.#asksMax = options.asksMax ?? asksMaxDefault;
    this.#floods = options.floods ?? 0;
    this.instances = instances.map((url) => new Instance(url, timeoutMs));
    this.#canaries = canaries;
    this.#session = new AccountSession(owner);
    this.#service = service;
    this.#asker = new Prober(this.instances, this.checker, service);
    this.checker.addKey(service.id, service.accountId, monotonicMs(), service.kind);
    // One lane is the one that disables.
    this.#deletionLanes = Math.max(1, Math.round(concurrency / askersPerLane) - 1);
  }

  /** Asks each instance once in each way. @returns what is wrong, in words; empty when the proof can begin */
  async findObstacles(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.instances.map((instance) =>
        instance.ask({ method: 'GET', path: '/health/ready', headers: {} }).then(
          ({ status }) =>
            status === 200
              ? this.#findRefusal(instance)
              : `${instance.url} isn’t ready: /health/ready answers ${status}`,
          (error: unknown) => `${instance.url} can’t be reached: ${describe(error)}`,
        ),
      ),
    );
    const obstacles = found.filter((obstacle) => obstacle !== undefined);
    if (obstacles.length > 0) return obstacles;
    const strangers = await this.#findStrangers();
    return strangers.length > 0 ? strangers : await this.#findImportsRefused();
  }

  /** Until the signal or the last deletion. @throws DomainError when the canary accounts can't be made */
  async run({ signal, deletionsMax = Infinity, onDeleted }: RunOptions): Promise<void> {
    let hasFailed = false;
    const options: ScenarioOptions = {
      instances: this.instances,
      canaries: this.#canaries,
      checker: this.checker,
      asker: this.#asker,
      askers: askersPerLane,
      asksMax: this.#asksMax,
      isOver: () => hasFailed || signal.aborted || this.checker.deletions >= deletionsMax,
      ...(onDeleted ? { onDeleted } : {}),
    };
    const lanes: DeletionScenario[] = [];
    while (lanes.length < this.#deletionLanes && !options.isOver()) {
      lanes.push(new DeletionScenario(await this.#canaries.newAccount(), options));
    }
    this.#lanes = lanes;
    const running = [...lanes.map((lane) => lane.run()), runDisablingScenario(options), this.#flood(options.isOver)];
    // All end before the canaries are removed, also when one fails.
    await Promise.allSettled(running.map((lane) => lane.catch(() => (hasFailed = true))));
    await Promise.all(running);
  }

  /** Compares lists and the audit trail with what happened, and sums up. Once, after the run. */
  async finish(): Promise<Report> {
    for (const [lane, source] of this.#lanes.flatMap((one) => one.sources.map((from) => [one, from] as const))) {
      await Promise.all(this.instances.map((instance) => lane.list(source, instance)));
      const { id } = source.session.account;
      const startedAt = monotonicMs();
      const recorded = await this.#canaries.deletionsRecorded(id);
      this.checker.auditRead(id, { startedAt, endedAt: monotonicMs() }, recorded);
    }
    return this.checker.finish();
  }

  close(): void {
    for (const instance of this.instances) instance.close();
  }

  async #flood(isOver: () => boolean): Promise<void> {
    const flooding = Array.from({ length: this.#floods }, async () => {
      while (!isOver()) await this.#asker.askMany();
    });
    await Promise.all(flooding);
  }

  /** An instance on another database refuses the key that is made for it. */
  async #findRefusal(instance: Instance): Promise<string | undefined> {
    for (const { question, instance: asked } of this.#asker.targets) {
      if (asked !== instance) continue;
      const request = question.request([this.#service], this.#service);
      const name = describeRequest(question, request);
      try {
        const answer = await instance.ask(request);
        if (question.read(answer, [this.#service])[0] === 'accepted') continue;
        return `${instance.url} refuses a key that was just made (${name} answers ${answer.status}): is its database the one of this configuration?`;
      } catch (error) {
        return `${instance.url} can’t be asked (${name}): ${describe(error)}`;
      }
    }
    return undefined;
  }

  /** Instances with different public addresses refuse each other’s access tokens. */
  async #findStrangers(): Promise<readonly string[]> {
    const [first] = this.instances;
    if (!first || !(await this.#session.ready(first))) return [`${first?.url} doesn’t let a canary account sign in`];
    const found = [];
    for (const instance of this.instances) {
      const answer = await this.#session.ask(instance, 'GET', '/auth/api-keys');
      if (answer?.status === 200) continue;
      const status = answer ? `answers ${answer.status} to` : 'gives no answer to';
      found.push(
        `${instance.url} ${status} an access token of ${first.url}: have all instances the same KEYREEVE_PUBLIC_URL and KEYREEVE_AUDIENCE?`,
      );
      await this.#session.ready(first);
    }
    return found;
  }

  /** For a moment after the first import a running instance may refuse imported keys; that must not count as a violation. */
  async #findImportsRefused(): Promise<readonly string[]> {
    const imported = this.#canaries.importsKeys && (await this.#canaries.importKey(this.#service.accountId));
    if (!imported) return [];
    const headers = { authorization: `Bearer ${imported.secret}` };
    const found: string[] = [];
    for (const instance of this.instances) {
      const accepted = async (): Promise<boolean> =>
        (await instance.ask({ method: 'GET', path: '/auth/forward', headers }).catch(() => undefined))?.status === 200;
      if (await accepted()) continue;
      await setTimeout(limits.importedKeysLookSeconds * 1_000);
      if (!(await accepted())) found.push(`${instance.url} refuses a key that was just imported`);
    }
    return found;
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));
