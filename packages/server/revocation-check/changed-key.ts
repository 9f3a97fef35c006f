/** One key that a scenario changes: its conditions, its current and its previous secret, and the requests that change it. */
import type { CanaryKey } from './canaries.ts';
import { newKeyConditions } from './changing-condition.ts';
import type { Effect } from './checker.ts';
import type { AskedOfKey, KeyConditions } from './condition.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import type { Change, KeyChangeKind, KeyKind } from './history.ts';
import type { HttpResponse } from './instance.ts';
import { endOf, KeyRequests } from './key-requests.ts';
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

export class ChangedKey {
  readonly #options: ScenarioOptions;
  readonly #source: KeySource;
  readonly #conditions: KeyConditions;
  readonly #requests: KeyRequests;
  #secrets = 1;
  #current: CanaryKey;
  #previous: CanaryKey | undefined;

  /** @returns undefined if the outcome of the creation is unknown */
  static async create(kind: KeyKind, source: KeySource, options: ScenarioOptions): Promise<ChangedKey | undefined> {
    const isCaller = kind === 'caller';
    const ask = (id: number): AskedOfKey => {
      return {
        scope: isCaller ? undefined : scope,
        address: clientIpOfProbes,
        forgedAddress,
        secret: new SecretRecord(`secret 1 of key ${id}`),
        conditions: newKeyConditions(id),
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
    this.#requests = new KeyRequests(key.id, source, { ...options, probe: () => this.probeEverywhere() });
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
    const { response, until } = await this.#requests.send(kind, { method: 'POST', path: '/rotate', body }, effects);
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
    await this.#requests.send('previousEnded', { method: 'DELETE', path: '/previous' }, [endOf(previous)]);
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
    await this.#requests.record({ kind: 'leaked', source: `POST /auth/leaks at ${instance.url}`, effects }, send);
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
    return (await this.#requests.send(kind, { method: 'PATCH', path: '', body }, effects, endsAt)).until;
  }
}
