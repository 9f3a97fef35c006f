/** How long instances give no verdict of a valid key: a client that asks each instance many times a second. */
import { Instance } from '../../revocation-check/instance.ts';
import { monotonicMs } from '../../src/foundation/clock.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

/** Between two requests to one instance. */
const everyMs = 50;

export interface Verdict {
  /** Of the request, in monotonic milliseconds. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** One instance’s verdicts. Requests overlap, so a response that takes long delays no other. */
class Watched {
  readonly verdicts: Verdict[] = [];
  /** Requests that got another answer, or none. */
  failures = 0;
  readonly #instance: Instance;
  readonly #inProgress = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(url: string, secret: string) {
    this.#instance = new Instance(url, programMsMax);
    // oxlint-disable-next-line keyreeve/no-test-bounds -- the pace of the client is an input of the run
    this.#timer = setInterval(() => {
      const asked = this.#ask(secret);
      this.#inProgress.add(asked);
      void asked.finally(() => this.#inProgress.delete(asked));
    }, everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inProgress);
    this.#instance.close();
  }

  async #ask(secret: string): Promise<void> {
    const startedMs = monotonicMs();
    const headers = { authorization: `Bearer ${secret}` };
    const request = { method: 'GET', path: '/auth/forward', headers } as const;
    const response = await this.#instance.send(request).catch(() => undefined);
    if (response?.status === 200) this.verdicts.push({ startedMs, endedMs: monotonicMs() });
    else this.failures++;
  }
}

export interface Outage {
  /** The longest time between two verdicts of one instance. */
  readonly withoutVerdictMs: number;
  /** From the promotion of a new leader until each instance has given a verdict that began later. Undefined without a promotion. */
  readonly sincePromotionMs: number | undefined;
  readonly failures: number;
}

export class VerdictWatch {
  readonly #watched: readonly Watched[];
  readonly #startedMs = monotonicMs();

  /** @param secret of a key that stays valid */
  constructor(urls: readonly string[], secret: string) {
    this.#watched = urls.map((url) => new Watched(url, secret));
  }

  /** Ends the watch. @param promotedMs when a new leader was promoted, if one was */
  async stop(promotedMs: number | undefined): Promise<Outage> {
    await Promise.all(this.#watched.map((one) => one.stop()));
    const all = this.#watched.map(({ verdicts }) => verdicts);
    return {
      withoutVerdictMs: Math.max(...all.map((verdicts) => longestGap(verdicts, this.#startedMs))),
      sincePromotionMs:
        promotedMs === undefined ? undefined : Math.max(...all.map((verdicts) => firstSince(verdicts, promotedMs))),
      failures: this.#watched.reduce((sum, { failures }) => sum + failures, 0),
    };
  }
}

/** @returns milliseconds; infinite without a verdict */
export function longestGap(verdicts: readonly Verdict[], fromMs: number): number {
  if (verdicts.length === 0) return Infinity;
  const ends = verdicts.map(({ endedMs }) => endedMs).toSorted((a, b) => a - b);
  return Math.max(...ends.map((endedMs, index) => endedMs - (ends[index - 1] ?? fromMs)));
}

/** @returns milliseconds from `sinceMs` to the first verdict that began later; infinite without one */
export const firstSince = (verdicts: readonly Verdict[], sinceMs: number): number =>
  Math.min(...verdicts.filter(({ startedMs }) => startedMs >= sinceMs).map(({ endedMs }) => endedMs - sinceMs));
