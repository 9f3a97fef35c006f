/**
 * Verifies keys with limits on several instances of the program while faults happen, and compares what was accepted with the
 * limits. All comparisons are upper bounds that hold on a machine of any speed, except in a run without faults.
 */
import { randomInt } from 'node:crypto';
import type { KeyLimits } from '@keyreeve/contract';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { awaited, until } from '../../test-kit/until.ts';
import { basic, bearer, type Environment, type Key } from '../e2e/program.ts';
import type { Cluster, ClusterInstance } from '../revocation-check/cluster.ts';
import { limitFaults, type LimitFault } from './limit-faults.ts';

export interface LimitRunOptions {
  /** Of the key with a quota. */
  readonly quota: number;
  readonly connections: number;
  readonly faults: readonly LimitFault[];
  /** How long an instance is paused. */
  readonly pauseMs: number;
}

export interface LimitReport {
  readonly quota: number;
  /** Accepted responses for the key with the quota. An instance that is killed may have accepted more. */
  readonly accepted: number;
  readonly acceptedOfRate: number;
  readonly violations: readonly string[];
}

/** Tokens of such a short window are valid for a second. */
const rate = { limit: 10, windowSeconds: 5, burst: 10 } as const;
const tokensSeconds = 1;
/** Without faults, at least this part of a quota is accepted. */
const acceptedPartMin = 0.97;

/** @throws Error if a fault has no observable effect */
export async function runLimits(cluster: Cluster, options: LimitRunOptions): Promise<LimitReport> {
  const run = new LimitRun(cluster, options);
  const owner = await signIn(cluster);
  await run.checkCosts(owner);
  await run.checkChange(owner);
  await run.checkUnderFaults(owner);
  return run.report();
}

/** Creates and changes keys at the first instance, whose clock is right. */
interface Owner {
  readonly newKey: (limits: KeyLimits) => Promise<Key>;
  readonly setLimits: (id: number, limits: KeyLimits) => Promise<void>;
}

async function signIn({ canaries, instances: [first] }: Cluster): Promise<Owner> {
  const { email, password } = await canaries.newAccount();
  const call = async (path: string, method: string, headers: Environment, body?: unknown): Promise<unknown> => {
    const json = { ...headers, 'content-type': 'application/json' };
    const init = body === undefined ? { method, headers } : { method, headers: json, body: JSON.stringify(body) };
    const response = await fetch(`${first?.url}${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { accessToken } = (await call('/auth/token', 'POST', basic(email, password))) as { accessToken: string };
  let created = 0;
  return {
    newKey: async (limits) => {
      const body = { nickname: `limited ${++created}`, limits };
      return (await call('/auth/api-keys', 'POST', bearer(accessToken), body)) as Key;
    },
    setLimits: async (id, limits) => {
      await call(`/auth/api-keys/${id}`, 'PATCH', bearer(accessToken), { limits });
    },
  };
}

/** A request that was accepted, in monotonic milliseconds. The verification was between both times. */
interface Acceptance {
  readonly sentAt: number;
  readonly receivedAt: number;
}

class LimitRun {
  readonly #cluster: Cluster;
  readonly #options: LimitRunOptions;
  readonly #violations: string[] = [];
  #accepted = 0;
  #responses = 0;
  #mayContinue = 0;
  readonly #acceptedOfRate: Acceptance[] = [];

  constructor(cluster: Cluster, options: LimitRunOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  report(): LimitReport {
    return {
      quota: this.#options.quota,
      accepted: this.#accepted,
      acceptedOfRate: this.#acceptedOfRate.length,
      violations: this.#violations,
    };
  }

  /** The client's largest cost counts, and a verification that is rejected for another reason costs nothing. */
  async checkCosts({ newKey }: Owner): Promise<void> {
    const { key } = await newKey({ quota: { limit: 10, per: 'ever' } });
    const [instance] = this.#cluster.instances;
    const expected = [
      ['?scope=orders:read&cost=10', 403],
      ['?cost=9&cost=1', 200],
      ['?cost=2', 429],
      ['', 200],
      ['', 429],
    ] as const;
    for (const [query, status] of expected) {
      const found = await verify(instance, key, query);
      if (found !== status) this.#violations.push(`a quota of 10: ${query} returned ${found} instead of ${status}`);
    }
  }

  /** A limit that is reduced to less than what is drawn: no instance accepts anything from its drawn tokens. */
  async checkChange({ newKey, setLimits }: Owner): Promise<void> {
    const { id, key } = await newKey({ quota: { limit: 1_000, per: 'ever' } });
    const { instances } = this.#cluster;
    const statuses: (number | undefined)[] = [];
    for (const instance of instances) {
      // Together, so that the next draw takes more tokens than it needs.
      await Promise.all(Array.from({ length: 20 }, () => verify(instance, key)));
      statuses.push(await verify(instance, key));
    }
    await setLimits(id, { quota: { limit: 10, per: 'ever' } });
    const after = await Promise.all(instances.map((instance) => verify(instance, key)));
    if (statuses.some((status) => status !== 200)) this.#violations.push(`before a change: ${statuses.join(', ')}`);
    if (after.some((status) => status === 200)) this.#violations.push('tokens were spent after a change of the limits');
  }

  /** The quota is used up at the end of the last fault, on all instances. */
  async checkUnderFaults({ newKey }: Owner): Promise<void> {
    const { quota, connections, faults, pauseMs } = this.#options;
    const { instances } = this.#cluster;
    const [byQuota, byRate] = [await newKey({ quota: { limit: quota, per: 'ever' } }), await newKey({ rate })];
    const end = new AbortController();
    const part = Math.floor(quota / (faults.length + 2));
    const startedAt = monotonicMs();
    this.#mayContinue = part;
    let using = connections;
    const useQuota = async (_: unknown, index: number): Promise<void> => {
      await this.#useQuota(instances[index % instances.length], byQuota.key, end.signal);
      using--;
    };
    const all = Promise.all([...Array.from({ length: connections }, useQuota), this.#useRate(byRate.key, end.signal)]);
    try {
      await this.#progress(1);
      for (const fault of faults) {
        this.#mayContinue += part;
        await limitFaults[fault](this.#cluster, { pauseMs, progress: () => this.#progress(instances.length) });
        await this.#cluster.recover();
      }
      this.#mayContinue = Infinity;
      // Each connection ends at a rejection by the quota.
      await until('the quota is used up', () => using === 0);
    } finally {
      end.abort();
      await all;
    }
    this.#compareRate(startedAt);
    if (this.#accepted > quota) this.#violations.push(`${this.#accepted} accepted of a quota of ${quota}`);
    if (faults.length === 0 && this.#accepted < quota * acceptedPartMin)
      this.#violations.push(`only ${this.#accepted} accepted of a quota of ${quota} without faults`);
  }

  /** Until the quota rejects, or the run ends. An instance without a response may have accepted. */
  async #useQuota(instance: ClusterInstance | undefined, key: string, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await until('the run continues', () => end.aborted || this.#accepted < this.#mayContinue);
      const status = await this.#decision(instance, key, end);
      if (status === 429 || this.#accepted > this.#options.quota) return;
      if (status === 200) this.#accepted++;
    }
  }

  /**
   * The first instance begins, and the others start when it has spent the burst: the clock of one that has a wrong time could
   * grant another burst.
   */
  async #useRate(key: string, end: AbortSignal): Promise<void> {
    const { instances } = this.#cluster;
    const send = async (instance: ClusterInstance | undefined): Promise<boolean> => {
      const sentAt = monotonicMs();
      const status = await this.#verify(instance, key);
      if (status === 200) this.#acceptedOfRate.push({ sentAt, receivedAt: monotonicMs() });
      return status === 200;
    };
    // Bounded, for a build that never rejects.
    for (let sent = 0; sent < 10 * rate.burst && (await send(instances[0])); sent++);
    const sendMany = async (instance: ClusterInstance): Promise<void> => {
      let sent = 0;
      await until('the run ends', async () => {
        await send(instance);
        return ++sent >= 2 * rate.burst && end.aborted;
      });
    };
    await Promise.all(instances.map(sendMany));
  }

  /** @returns 200 or 429, unless the run ends before */
  async #decision(instance: ClusterInstance | undefined, key: string, end: AbortSignal): Promise<number | undefined> {
    let status: number | undefined;
    await until('the instance decides', async () => {
      status = await this.#verify(instance, key);
      return status === 200 || status === 429 || end.aborted;
    });
    return status;
  }

  async #verify(instance: ClusterInstance | undefined, key: string): Promise<number | undefined> {
    const status = await verify(instance, key);
    this.#responses += status === undefined ? 0 : 1;
    return status;
  }

  /** Waits for more responses. */
  async #progress(count: number): Promise<void> {
    const enough = this.#responses + count;
    await until('verifications are answered', () => this.#responses >= enough);
  }

  /** Everything that was certainly accepted between two times was drawn between them or shortly before. */
  #compareRate(startedAt: number): void {
    const byEnd = this.#acceptedOfRate.toSorted((one, other) => one.receivedAt - other.receivedAt);
    for (const { sentAt: from } of this.#acceptedOfRate) {
      let accepted = 0;
      for (const { sentAt, receivedAt } of byEnd) {
        if (sentAt < from) continue;
        accepted++;
        const seconds = (receivedAt - Math.max(startedAt, from - tokensSeconds * 1_000)) / 1_000;
        const most = rate.burst + (seconds * rate.limit) / rate.windowSeconds + 1;
        if (accepted <= most) continue;
        this.#violations.push(
          `${accepted} accepted in ${seconds.toFixed(3)} s by a rate of ${rate.limit} per ${rate.windowSeconds} s`,
        );
        return;
      }
    }
  }
}

/** @returns undefined without a response */
async function verify(instance: ClusterInstance | undefined, key: string, query = ''): Promise<number | undefined> {
  // Of both listeners, if there are verifiers: their processes hold tokens of their own.
  const urls = [instance?.url, instance?.verifyUrl].filter((url) => url !== undefined);
  const url = `${urls[randomInt(urls.length)]}/auth/forward${query}`;
  const send = async (signal: AbortSignal): Promise<number> => {
    const response = await fetch(url, { headers: bearer(key), signal });
    await response.arrayBuffer();
    return response.status;
  };
  return awaited(`${url} answers`, send).catch(() => undefined);
}
