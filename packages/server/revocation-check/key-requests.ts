/** The requests that change one key: each with verifications everywhere just before and just after it, and a report to the checker. */
import { randomInt } from 'node:crypto';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { CanaryKey } from './canaries.ts';
import type { Effect } from './checker.ts';
import type { ChangeOutcome, KeyChangeKind } from './history.ts';
import type { HttpRequest, HttpResponse } from './instance.ts';
import type { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import type { ScenarioOptions } from './scenario-options.ts';

interface Request {
  readonly method: HttpRequest['method'];
  /** After `/auth/api-keys/:id`. */
  readonly path: string;
  readonly body?: object;
}

interface KeyRequestsOptions extends Pick<ScenarioOptions, 'instances' | 'checker'> {
  /** Verifies all secrets of the key at all their targets. */
  readonly probe: () => Promise<void>;
}

/** The outcome of a change is not known, or the service rejected it: the key is not changed any more. */
export class KeyAbandoned extends Error {}

interface SentChange {
  readonly kind: KeyChangeKind;
  readonly source: string;
  readonly effects: readonly Effect[];
  readonly endsAt?: number | undefined;
}

export class KeyRequests {
  readonly #keyId: number;
  readonly #source: KeySource;
  readonly #options: KeyRequestsOptions;

  constructor(keyId: number, source: KeySource, options: KeyRequestsOptions) {
    this.#keyId = keyId;
    this.#source = source;
    this.#options = options;
  }

  /**
   * Sends a change to a random instance, with verifications everywhere just before and just after it, and reports it.
   * @param endsAt the time that the request sets; undefined if the response states it
   * @returns the response, and when delayed effects have begun everywhere
   * @throws KeyAbandoned
   */
  async send(
    kind: KeyChangeKind,
    { method, path, body }: Request,
    effects: readonly Effect[],
    endsAt?: number,
  ): Promise<{ readonly response: HttpResponse; readonly until: number }> {
    const { session } = this.#source;
    const instance = pick(this.#options.instances);
    if (!(await session.ensureSignedIn(instance))) throw new KeyAbandoned();
    const source = `${method} /auth/api-keys/:id${path} ${describe(body)} at ${instance.url}`;
    const target = `/auth/api-keys/${this.#keyId}${path}`;
    const change = { kind, source, effects, endsAt };
    return this.record(change, () => session.send(instance, method, target, body));
  }

  /** As {@link send}. @param send resolves to undefined without a response */
  async record(
    { kind, source, effects, endsAt }: SentChange,
    send: () => Promise<HttpResponse | undefined>,
  ): Promise<{ readonly response: HttpResponse; readonly until: number }> {
    const { checker, probe } = this.#options;
    // Fills any cache of acceptances just before the change; sometimes the change comes first.
    const before = randomInt(4) > 0 ? probe() : Promise.resolve();
    const change = checker.beginKeyChange(kind, effects, source, monotonicMs());
    const response = await send();
    const endedAt = monotonicMs();
    const outcome = outcomeOf(response);
    const delayMs = response && outcome === 'changed' ? delayOf(response, endsAt) : 0;
    const until = checker.endKeyChange(change, outcome, endedAt, delayMs);
    await Promise.all([before, probe()]);
    if (response && outcome === 'changed') return { response, until };
    // The account may have reached its limit of changes, or its sign-in is no longer recent.
    // Limits of leak reports concern client IP ranges, not accounts.
    if (outcome === 'rejected' && kind !== 'leaked') this.#source.isExhausted = true;
    throw new KeyAbandoned();
  }
}

/** The end of a secret that is changed. */
export const endOf = ({ asked }: CanaryKey): Effect => {
  if (!asked) throw new Error('a key that is changed has a record of its secret');
  return { condition: asked.secret, to: 'unmet' };
};

function outcomeOf(response: HttpResponse | undefined): ChangeOutcome {
  if (response?.status === 200 || response?.status === 202) return 'changed';
  return response && response.status >= 400 && response.status < 500 ? 'rejected' : 'unknown';
}

/** From the change to the time that it sets, by the clock of the service. */
function delayOf({ text }: HttpResponse, endsAt: number | undefined): number {
  const { updatedAt = '', previousExpiresAt } = JSON.parse(text) as {
    updatedAt?: string;
    previousExpiresAt?: string | null;
  };
  const end = endsAt ?? (previousExpiresAt ? Date.parse(previousExpiresAt) : Number.NaN);
  return Number.isNaN(end) ? 0 : end - Date.parse(updatedAt);
}

/** For explanations. */
const describe = (body: object | undefined): string => (body === undefined ? '' : JSON.stringify(body));
