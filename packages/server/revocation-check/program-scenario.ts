/**
 * Removes programs with their keys, while they sign in as devices, and takes approvals back, while programs poll. No poll may get a key
 * that is accepted after the response, and all keys of the program end.
 */
import { setTimeout } from 'node:timers/promises';
import { deviceCodeGrant } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import { randomBase62 } from '../src/foundation/crypto/secret.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { AccountSession } from './account-session.ts';
import type { CanaryKey } from './canaries.ts';
import type { ChangeOutcome, Interval, KeyChangeKind } from './history.ts';
import type { HttpResponse, Instance } from './instance.ts';
import { pauseMs } from './key-deletion.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import { randomInt } from './random.ts';
import type { ScenarioOptions } from './scenario-options.ts';

const keysPerProgram = 2;
/** Approved, and polled during the removal. */
const requestsAtRemoval = 3;
/** Denials of a program: before, beside and after the polls. */
const orders = ['first', 'beside', 'last'] as const;
const idChars = 16;

/** A request that is approved. */
interface Approved {
  readonly id: string;
  readonly userCode: string;
  readonly deviceCode: string;
}

/** A key that a poll has got. */
interface Issued {
  readonly key: CanaryKey;
  /** When the response arrived. */
  readonly at: number;
}

/** After its end, the keys of some requests are deleted. */
interface Ending extends Interval {
  readonly source: string;
  readonly outcome: ChangeOutcome;
}

/** Declares programs one after the other. Each gets keys, and is removed. */
export async function runProgramScenario(options: ScenarioOptions): Promise<void> {
  while (!options.isOver()) {
    const id = `canary-${randomBase62(idChars).toLowerCase()}`;
    try {
      const account = await options.canaries.newAccount();
      await options.canaries.addProgram(id);
      await new ProgramRound(id, new AccountSession(account), options).run();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await setTimeout(pauseMs);
    }
  }
}

class ProgramRound {
  readonly #id: string;
  readonly #session: AccountSession;
  readonly #options: ScenarioOptions;
  readonly #keys: CanaryKey[] = [];

  constructor(id: string, session: AccountSession, options: ScenarioOptions) {
    this.#id = id;
    this.#session = session;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { loops, probesMax, prober, isOver } = this.#options;
    for (let left = keysPerProgram; left > 0; left--) {
      const request = await this.#approve();
      if (request) this.#add(await this.#poll(request));
    }
    const probe = (): Promise<void> =>
      this.#keys.length === 0 ? setTimeout(pauseMs) : prober.probeAnywhere(pick(this.#keys));
    const probes = new ProbeLoops(loops, probe);
    try {
      // A short run has one denial, too.
      for (const order of orders) if (order === 'first' || !isOver()) await this.#deny(order);
      await probes.more(1 + randomInt(probesMax));
      await this.#removeProgram();
      await probes.more(1 + randomInt(probesMax));
    } finally {
      await probes.stop();
      for (const key of this.#keys) prober.markDeleted(key);
    }
  }

  /** Takes an approval back. @param order when the denial is sent */
  async #deny(order: (typeof orders)[number]): Promise<void> {
    const request = await this.#approve();
    if (!request) return;
    const instance = pick(this.#options.instances);
    const path = `/auth/approvals/${request.id}/deny`;
    const deny = (): Promise<Ending> =>
      this.#end('approvalDenied', `POST ${path} at ${instance.url}`, async () => {
        const response = await this.#session.send(instance, 'POST', path, { code: request.userCode });
        if (response?.status === 200) return 'changed';
        // The program had its key already, or the request has expired.
        return response && response.status >= 400 && response.status < 500 ? 'rejected' : 'unknown';
      });
    const first = order === 'last' ? undefined : deny();
    const polling = order === 'first' ? undefined : this.#poll(request);
    const [ending, issued] = await Promise.all([first ?? deny(), polling ?? []]);
    // A later poll would replace the secret of the key.
    this.#add(issued.length > 0 ? issued : await this.#poll(request), ending);
    await this.#probeEverywhere();
  }

  /** Repeats the removal until its outcome is known, or the run ends. */
  async #removeProgram(): Promise<void> {
    const { canaries, checker, isOver } = this.#options;
    const requests: Approved[] = [];
    for (let left = requestsAtRemoval; left > 0; left--) {
      const request = await this.#approve();
      if (request) requests.push(request);
    }
    const polling = [this.#probeEverywhere(), ...requests.map((request) => this.#poll(request))] as const;
    const known = [...this.#keys];
    const startedAt = monotonicMs();
    let ending: Ending;
    for (;;) {
      const source = `removal of the program ${this.#id}`;
      const begun = monotonicMs();
      const deletions = known.map(({ id }) => ({ id, deletion: checker.beginDeletion(id, source, begun) }));
      let isRemoved = false;
      ending = await this.#end('programRemoved', source, async () => {
        isRemoved = await canaries.removeProgram(this.#id);
        return 'changed';
      });
      const { endedAt, outcome } = ending;
      const ofKeys = isRemoved ? 'deleted' : 'not_found';
      for (const { id, deletion } of deletions)
        checker.endDeletion(id, deletion, outcome === 'changed' ? ofKeys : 'unknown', endedAt);
      if (outcome === 'changed' || isOver()) break;
      await setTimeout(pauseMs);
    }
    const [, ...got] = await Promise.all(polling);
    for (const [index, request] of requests.entries()) {
      const issued = got[index] ?? [];
      this.#add(issued.length > 0 ? issued : await this.#poll(request), { ...ending, startedAt });
    }
    await this.#probeEverywhere();
  }

  /** Makes a change, and counts it. @param make its errors have an unknown outcome */
  async #end(kind: KeyChangeKind, source: string, make: () => Promise<ChangeOutcome>): Promise<Ending> {
    const { checker } = this.#options;
    const startedAt = monotonicMs();
    const change = checker.beginKeyChange(kind, [], source, startedAt);
    const outcome = await make().catch((error: unknown): ChangeOutcome => {
      if (!(error instanceof DomainError)) throw error;
      return 'unknown';
    });
    const endedAt = monotonicMs();
    checker.endKeyChange(change, outcome, endedAt);
    return { source, startedAt, endedAt, outcome };
  }

  /** Begins a request and approves it, at any instances. @returns undefined if one of them was not successful */
  async #approve(): Promise<Approved | undefined> {
    const { instances } = this.#options;
    const begun = await this.#send(pick(instances), '/auth/oauth/device', {});
    if (begun?.status !== 200) return undefined;
    const { device_code: deviceCode, user_code: userCode } = JSON.parse(begun.text) as Record<string, string>;
    const instance = pick(instances);
    if (!deviceCode || !userCode || !(await this.#session.ensureSignedIn(instance))) return undefined;
    const found = await this.#session.send(instance, 'POST', '/auth/approvals/lookup', { code: userCode });
    if (found?.status !== 200) return undefined;
    const { id } = JSON.parse(found.text) as { id: string };
    const approved = await this.#session.send(pick(instances), 'POST', `/auth/approvals/${id}/approve`, {
      code: userCode,
    });
    return approved?.status === 200 ? { id, userCode, deviceCode } : undefined;
  }

  /**
   * Polls at all instances at the same time.
   * @returns the keys that the responses contain: at most one. None, if a poll that was delayed has replaced its secret
   */
  async #poll({ deviceCode }: Approved): Promise<readonly Issued[]> {
    const { checker, instances } = this.#options;
    const members = { grant_type: deviceCodeGrant, device_code: deviceCode };
    const polls = instances.map(async (instance): Promise<Issued | undefined> => {
      const response = await this.#send(instance, '/auth/oauth/token', members);
      if (response?.status !== 200) return undefined;
      const { access_token: secret, key_id: id } = JSON.parse(response.text) as {
        access_token: string;
        key_id: number;
      };
      const key: CanaryKey = { id, secret, accountId: this.#session.account.id, kind: 'created' };
      return { key, at: monotonicMs() };
    });
    const issued = (await Promise.all(polls)).filter((one) => one !== undefined);
    const ids = new Set(issued.map(({ key }) => key.id));
    const [id] = ids;
    if (id !== undefined && ids.size > 1) checker.exchangedTwice(id);
    return ids.size === issued.length ? issued : [];
  }

  /** @param ending after which the keys must be rejected, if it happened */
  #add(issued: readonly Issued[], ending?: Ending): void {
    const { checker, prober } = this.#options;
    for (const { key, at } of issued) {
      checker.addKey(key.id, key.accountId, at);
      if (ending && ending.outcome !== 'rejected') {
        const deletion = checker.beginDeletion(key.id, ending.source, ending.startedAt);
        const outcome = ending.outcome === 'changed' ? 'deleted' : 'unknown';
        checker.endDeletion(key.id, deletion, outcome, ending.endedAt);
      }
      this.#keys.push(key);
      prober.live.add(key);
    }
  }

  async #probeEverywhere(): Promise<void> {
    const { prober } = this.#options;
    await Promise.all(this.#keys.map((key) => prober.probeEverywhere(key)));
  }

  /** A request of the program. @returns undefined without a response */
  #send(
    instance: Instance,
    path: string,
    members: Readonly<Record<string, string>>,
  ): Promise<HttpResponse | undefined> {
    const body = new URLSearchParams({ client_id: this.#id, ...members }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return instance.send({ method: 'POST', path, headers, body }).catch(() => undefined);
  }
}
