/** One key that a scenario changes: its conditions, its current and its previous secret, and the requests that change it. */
import { randomInt } from 'node:crypto';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { CanaryKey } from './canaries.ts';
import { ChangingCondition } from './changing-condition.ts';
import type { Effect } from './checker.ts';
import type { AskedOfKey, KeyConditions } from './condition.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import type { Change, ChangeOutcome, KeyChangeKind, KeyKind } from './history.ts';
import type { HttpRequest, HttpResponse } from './instance.ts';
import { reportLeak } from './leak-report.ts';
import { deleteKey } from './key-deletion.ts';
import type { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import { SecretRecord } from './secret-record.ts';

/** A key keeps the first scope, and loses the second. */
export const otherScope = 'canary:kept';
export const scope = 'canary:changed';
/** IP addresses and ranges for documentation (RFC 5737). */
export const clientIpOfProbes = '203.0.113.7';
export const forgedAddress = '198.51.100.9';
const rangesWith = ['203.0.113.0/24', '2001:db8::/32'] as const;
/** Contains the IP address that a client forges, so that a service that believes the client accepts the key. */
const rangesWithout = ['198.51.100.0/24'] as const;

interface Request {
  readonly method: HttpRequest['method'];
  /** After `/auth/api-keys/:id`. */
  readonly path: string;
  readonly body?: object;
}

/** The outcome of a change is not known, or the service rejected it: the key is not changed any more. */
export class KeyAbandoned extends Error {}

export class ChangedKey {
  readonly #options: ScenarioOptions;
  readonly #source: KeySource;
  readonly #conditions: KeyConditions;
  #secrets = 1;
  #current: CanaryKey;
  #previous: CanaryKey | undefined;

  /** @returns undefined if the outcome of the creation is unknown */
  static async create(kind: KeyKind, source: KeySource, options: ScenarioOptions): Promise<ChangedKey | undefined> {
    const isCaller = kind === 'caller';
    const ask = (id: number): AskedOfKey => {
      const condition = (): ChangingCondition => new ChangingCondition(`key ${id}`, 'accepted_after_narrowing');
      return {
        scope: isCaller ? undefined : scope,
        address: clientIpOfProbes,
        forgedAddress,
        secret: new SecretRecord(`secret 1 of key ${id}`),
        conditions: {
          enabled: condition(),
          unexpired: condition(),
          scope: condition(),
          address: condition(),
          anywhere: condition(),
        },
      };
    };
    const key = await source.newKey(kind, { ask, scopes: isCaller ? [] : [otherScope, scope] });
    return key?.asked && new ChangedKey(key, key.asked, source, options);
  }

  private constructor(key: CanaryKey, { conditions }: AskedOfKey, source: KeySource, options: ScenarioOptions) {
    this.#current = key;
    this.#conditions = conditions;
    this.#source = source;
    this.#options = options;
  }

  /** The current secret, and the previous one if it may be valid. */
  get secrets(): readonly CanaryKey[] {
    return this.#previous ? [this.#current, this.#previous] : [this.#current];
  }

  get hasScope(): boolean {
    return this.#current.asked?.scope !== undefined;
  }

  /** @throws KeyAbandoned */
  async setDisabled(disabled: boolean): Promise<void> {
    await this.#patch(disabled ? 'disabled' : 'widened', { disabled }, [this.#toggle('enabled', !disabled)]);
  }

  /** @throws KeyAbandoned */
  async setScope(isGranted: boolean): Promise<void> {
    const scopes = isGranted ? [otherScope, scope] : [otherScope];
    await this.#patch(isGranted ? 'widened' : 'scope', { scopes }, [this.#toggle('scope', isGranted)]);
  }

  /** @param from the client IPs from which the key is valid: any, ranges with that of the probes, or ranges without it */
  async setAddresses(from: 'any' | 'with' | 'without'): Promise<void> {
    const addresses = from === 'any' ? null : from === 'with' ? rangesWith : rangesWithout;
    await this.#patch(from === 'any' ? 'widened' : 'addresses', { addresses }, [
      this.#toggle('address', from !== 'without'),
      this.#toggle('anywhere', from === 'any'),
    ]);
  }

  /** Sets an expiry that is soon, by this machine's clock. @returns when the key is expired everywhere @throws KeyAbandoned */
  async expireSoon(afterMs: number, wallClockMs: number): Promise<number> {
    const expiresAt = wallClockMs + afterMs;
    const effect: Effect = { ...this.#toggle('unexpired', false), isDelayed: true };
    return this.#patch('expiry', { expiresAt: new Date(expiresAt).toISOString() }, [effect], expiresAt);
  }

  /** @throws KeyAbandoned */
  async neverExpire(): Promise<void> {
    await this.#patch('widened', { expiresAt: null }, [this.#toggle('unexpired', true)]);
  }

  /**
   * Replaces the secret.
   * @returns when the replaced secret has ended everywhere
   * @throws KeyAbandoned
   */
  async rotate(overlapSeconds: number, endPrevious = false): Promise<number> {
    const replaced = this.#current;
    const ended = endPrevious ? this.#previous : undefined;
    const effects: Effect[] = [{ ...endOf(replaced), isDelayed: overlapSeconds > 0 }];
    if (ended) effects.push(endOf(ended));
    const body = { overlapSeconds, ...(endPrevious ? { endPrevious } : {}) };
    const until = await this.#replaceSecret(body, effects);
    if (ended) this.#options.prober.markDeleted(ended);
    if (overlapSeconds > 0) this.#previous = replaced;
    else this.#forget(replaced);
    await this.probeEverywhere();
    return until;
  }

  /**
   * Replaces the current secret, which ends; the previous one keeps its overlap. Nothing without a previous secret.
   * @throws KeyAbandoned
   */
  async replaceCurrent(): Promise<void> {
    if (!this.#previous) return;
    const replaced = this.#current;
    await this.#replaceSecret({ endCurrent: true }, [endOf(replaced)]);
    this.#forget(replaced);
    await this.probeEverywhere();
  }

  /** @param body of the rotation @returns when delayed effects have begun everywhere */
  async #replaceSecret(body: object, effects: readonly Effect[], kind: KeyChangeKind = 'rotated'): Promise<number> {
    const replaced = this.#current;
    const { response, until } = await this.#send(kind, { method: 'POST', path: '/rotate', body }, effects);
    const { key: secret } = JSON.parse(response.text) as { key: string };
    const number = ++this.#secrets;
    this.#current = {
      ...replaced,
      secret,
      ...(replaced.asked
        ? { asked: { ...replaced.asked, secret: new SecretRecord(`secret ${number} of key ${replaced.id}`) } }
        : {}),
    };
    this.#options.prober.live.add(this.#current);
    return until;
  }

  /** @throws KeyAbandoned */
  async endPrevious(): Promise<void> {
    const previous = this.#previous;
    if (!previous) return;
    await this.#send('previousEnded', { method: 'DELETE', path: '/previous' }, [endOf(previous)]);
    this.#forget(previous);
  }

  /**
   * Reports the current secret as leaked, which ends it and disables the key, and rotates the key, which enables it again.
   * The previous secret keeps its overlap. Nothing if no instance accepts reports.
   * @throws KeyAbandoned
   */
  async leakCurrent(): Promise<void> {
    const replaced = this.#current;
    if (!(await this.#reportLeak(replaced, [endOf(replaced), this.#toggle('enabled', false)]))) return;
    await this.#replaceSecret({}, [this.#toggle('enabled', true)], 'widened');
    this.#forget(replaced);
    await this.probeEverywhere();
  }

  /** Reports the previous secret as leaked, which ends it alone. @throws KeyAbandoned */
  async leakPrevious(): Promise<void> {
    const previous = this.#previous;
    if (previous && (await this.#reportLeak(previous, [endOf(previous)]))) this.#forget(previous);
  }

  /** @returns whether an instance accepted the report @throws KeyAbandoned */
  async #reportLeak({ secret }: CanaryKey, effects: readonly Effect[]): Promise<boolean> {
    const accepting = this.#options.instances.filter(({ acceptsLeakReports }) => acceptsLeakReports);
    if (accepting.length === 0) return false;
    const instance = pick(accepting);
    const send = (): Promise<HttpResponse | undefined> => reportLeak(instance, secret).catch(() => undefined);
    await this.#record('leaked', `POST /auth/leaks at ${instance.url}`, effects, send);
    return true;
  }

  /** After the end of an overlap. */
  forgetPrevious(): void {
    if (this.#previous) this.#forget(this.#previous);
  }

  /** Repeats the deletion until its outcome is known, or the run ends. */
  async delete(): Promise<void> {
    const before = this.probeEverywhere();
    if (await deleteKey(this.#source.session, this.#current.id, this.#options)) await this.probeEverywhere();
    await before;
    for (const key of this.secrets) this.#options.prober.markDeleted(key);
  }

  /** Verifies both secrets at all their targets. */
  async probeEverywhere(): Promise<void> {
    await Promise.all(this.secrets.map((key) => this.#options.prober.probeEverywhere(key)));
  }

  /** Ended secrets are verified again from time to time. */
  #forget(secret: CanaryKey): void {
    if (this.#previous === secret) this.#previous = undefined;
    this.#options.prober.markDeleted(secret);
  }

  #toggle(name: keyof KeyConditions, isMet: boolean): Effect {
    const to: Change['to'] = isMet ? 'met' : 'unmet';
    return { condition: this.#conditions[name], to };
  }

  async #patch(kind: KeyChangeKind, body: object, effects: readonly Effect[], endsAt?: number): Promise<number> {
    return (await this.#send(kind, { method: 'PATCH', path: '', body }, effects, endsAt)).until;
  }

  /**
   * Sends a change to a random instance, with verifications everywhere just before and just after it, and reports it.
   * @param endsAt the time that the request sets; undefined if the response states it
   * @returns the response, and when delayed effects have begun everywhere
   * @throws KeyAbandoned
   */
  async #send(
    kind: KeyChangeKind,
    { method, path, body }: Request,
    effects: readonly Effect[],
    endsAt?: number,
  ): Promise<{ readonly response: HttpResponse; readonly until: number }> {
    const { session } = this.#source;
    const instance = pick(this.#options.instances);
    if (!(await session.ensureSignedIn(instance))) throw new KeyAbandoned();
    const source = `${method} /auth/api-keys/:id${path} ${describe(body)} at ${instance.url}`;
    const target = `/auth/api-keys/${this.#current.id}${path}`;
    return this.#record(kind, source, effects, () => session.send(instance, method, target, body), endsAt);
  }

  /** As {@link #send}. @param send resolves to undefined without a response */
  async #record(
    kind: KeyChangeKind,
    source: string,
    effects: readonly Effect[],
    send: () => Promise<HttpResponse | undefined>,
    endsAt?: number,
  ): Promise<{ readonly response: HttpResponse; readonly until: number }> {
    const { checker } = this.#options;
    // Fills any cache of acceptances just before the change; sometimes the change comes first.
    const before = randomInt(4) > 0 ? this.probeEverywhere() : Promise.resolve();
    const change = checker.beginKeyChange(kind, effects, source, monotonicMs());
    const response = await send();
    const endedAt = monotonicMs();
    const outcome = outcomeOf(response);
    const delayMs = response && outcome === 'changed' ? delayOf(response, endsAt) : 0;
    const until = checker.endKeyChange(change, outcome, endedAt, delayMs);
    await Promise.all([before, this.probeEverywhere()]);
    if (response && outcome === 'changed') return { response, until };
    // The account may have reached its limit of changes, or its sign-in is no longer recent.
    if (outcome === 'rejected') this.#source.isExhausted = true;
    throw new KeyAbandoned();
  }
}

const endOf = ({ asked }: CanaryKey): Effect => {
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
