/** A key whose clients exchange tokens for short-lived secrets: signed with a key pair of their own, or by an issuer that the key trusts. */
import { jwtBearerGrant } from '@keyreeve/contract';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { CanaryKey } from './canaries.ts';
import type { AskedOfKey, ChangeableCondition } from './condition.ts';
import type { KeyChangeKind } from './history.ts';
import type { HttpResponse, Instance } from './instance.ts';
import { KeyAbandoned } from './key-requests.ts';
import type { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import { askedOf, ScenarioKey } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { SecretRecord } from './secret-record.ts';

/** Longer than a key of a scenario exists. */
export const overlapSeconds = 3_600;

/** What a key accepts tokens of. */
export interface Credential {
  /** In requests that create the key or rotate it. */
  readonly member: { readonly publicKey: object } | { readonly trust: object };
  /** Parameters of an exchange with a new token. @param audience the public URL of the service */
  readonly form: (keyId: number, audience: string) => Readonly<Record<string, string>>;
}

/** A credential of the key, and its short-lived secrets, which end together. */
interface Issuing {
  readonly credential: Credential;
  readonly record: SecretRecord;
  readonly secrets: CanaryKey[];
}

export type AskedKey = CanaryKey & { readonly asked: AskedOfKey };
export type Which = 'current' | 'previous';

export class ExchangingKey extends ScenarioKey {
  readonly id: number;
  readonly #key: AskedKey;
  #current: Issuing;
  #previous: Issuing | undefined;
  #credentials = 0;

  /** @returns undefined if the outcome of the registration is unknown */
  static async register(
    source: KeySource,
    credential: Credential,
    options: ScenarioOptions,
  ): Promise<ExchangingKey | undefined> {
    const ask = (id: number): AskedOfKey => askedOf(id, undefined);
    const key = await source.newKey('created', { ask, credential: credential.member });
    return key?.asked && new ExchangingKey({ ...key, asked: key.asked }, credential, source, options);
  }

  private constructor(key: AskedKey, credential: Credential, source: KeySource, options: ScenarioOptions) {
    super(key.id, key.asked, source, options);
    this.id = key.id;
    this.#key = key;
    this.#current = this.#issuing(credential);
  }

  override get secrets(): readonly CanaryKey[] {
    return [...this.#current.secrets, ...(this.#previous?.secrets ?? [])];
  }

  /** Of all secrets of the current credential. */
  get record(): ChangeableCondition {
    return this.#current.record;
  }

  /** Afterwards, no token can be exchanged. */
  override async delete(): Promise<void> {
    await super.delete();
    await this.exchangeEverywhere();
  }

  /** Exchanges a token at a random instance, and verifies the secret everywhere. @throws KeyAbandoned */
  async exchange(by: Which = 'current'): Promise<void> {
    const issuing = by === 'current' ? this.#current : this.#previous;
    const audience = await this.#audience();
    if (!issuing || audience === undefined) throw new KeyAbandoned();
    const form = issuing.credential.form(this.#key.id, audience);
    const secret = await this.#exchangeAt(pick(this.options.instances), form, issuing);
    if (!secret) throw new KeyAbandoned();
    await this.options.prober.probeEverywhere(secret);
  }

  /**
   * Exchanges tokens, one at each instance.
   * @param form with tokens that the current credential accepts, or has accepted. Default: its own
   * @param keepsSecrets whether the secrets are verified: they end with the record of the credential
   */
  async exchangeEverywhere(form?: Credential['form'], keepsSecrets = true): Promise<void> {
    const issuing = this.#current;
    const audience = await this.#audience();
    if (audience === undefined) return;
    const exchanging = this.options.instances.map((instance) => {
      const parameters = form?.(this.#key.id, audience) ?? issuing.credential.form(this.#key.id, audience);
      return this.#exchangeAt(instance, parameters, issuing, keepsSecrets);
    });
    await Promise.all(exchanging);
  }

  /** Exchanges one token at two instances at the same time. @throws KeyAbandoned */
  async exchangeTwice(): Promise<void> {
    const audience = await this.#audience();
    if (audience === undefined) throw new KeyAbandoned();
    const form = this.#current.credential.form(this.#key.id, audience);
    const { instances, checker } = this.options;
    const [first, second] = await Promise.all([this.#send(pick(instances), form), this.#send(pick(instances), form)]);
    if (first?.status === 200 && second?.status === 200) checker.exchangedTwice(this.#key.id);
  }

  /** Replaces the credential. @param overlap for which the secrets of the replaced one stay valid; 0 ends them @throws KeyAbandoned */
  async rotate(kind: KeyChangeKind, credential: Credential, overlap = overlapSeconds): Promise<void> {
    const replaced = this.#current;
    const ended = overlap === 0 ? this.#previous : undefined;
    const effects = [{ condition: replaced.record, to: 'unmet', isDelayed: overlap > 0 }] as const;
    const ends = ended ? [{ condition: ended.record, to: 'unmet' } as const] : [];
    const body = { ...credential.member, overlapSeconds: overlap, ...(ended ? { endPrevious: true } : {}) };
    await this.requests.send(kind, { method: 'POST', path: '/rotate', body }, [...effects, ...ends]);
    this.#current = this.#issuing(credential);
    if (overlap > 0) this.#previous = replaced;
    else this.#forget(replaced, ended);
    await this.probeEverywhere();
  }

  /** Ends the previous credential, and with it the secrets that were issued for it. @throws KeyAbandoned */
  async endPrevious(kind: KeyChangeKind): Promise<void> {
    const ended = this.#previous;
    if (!ended) return;
    const effect = { condition: ended.record, to: 'unmet' } as const;
    await this.requests.send(kind, { method: 'DELETE', path: '/previous' }, [effect]);
    this.#forget(ended);
  }

  /** After an end of all secrets that concerns the credential, not the key. Later secrets get a new record. */
  startAnew(): void {
    const ended = this.#current;
    this.#current = this.#issuing(ended.credential);
    for (const secret of ended.secrets) this.options.prober.markDeleted(secret);
  }

  #forget(...ended: readonly (Issuing | undefined)[]): void {
    for (const issuing of ended) {
      if (issuing === this.#previous) this.#previous = undefined;
      for (const secret of issuing?.secrets ?? []) this.options.prober.markDeleted(secret);
    }
  }

  #issuing(credential: Credential): Issuing {
    const record = new SecretRecord(`short-lived secrets ${++this.#credentials} of key ${this.#key.id}`);
    return { credential, record, secrets: [] };
  }

  /** @returns the secret, if the exchange was accepted */
  async #exchangeAt(
    instance: Instance,
    form: Readonly<Record<string, string>>,
    { record, secrets }: Issuing,
    keepsSecrets = true,
  ): Promise<CanaryKey | undefined> {
    const { checker, prober } = this.options;
    const startedAt = monotonicMs();
    const response = await this.#send(instance, form);
    const interval = { startedAt, endedAt: monotonicMs(), source: `POST /auth/oauth/token at ${instance.url}` };
    const asked = { ...this.#key.asked, secret: record };
    const { enabled, unexpired, anywhere: address } = asked.conditions;
    const conditions = { secret: record, enabled, unexpired, address, scope: undefined };
    checker.exchanged(this.#key.id, { ...interval, result: resultOf(response) }, conditions);
    if (response?.status !== 200 || !keepsSecrets) return undefined;
    const { access_token: secret } = JSON.parse(response.text) as { access_token: string };
    const issued: CanaryKey = { ...this.#key, secret, asked };
    secrets.push(issued);
    prober.live.add(issued);
    return issued;
  }

  /** @returns undefined without a response */
  #send(instance: Instance, form: Readonly<Record<string, string>>): Promise<HttpResponse | undefined> {
    const body = new URLSearchParams({ grant_type: jwtBearerGrant, ...form }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return instance.send({ method: 'POST', path: '/auth/oauth/token', headers, body }).catch(() => undefined);
  }

  /** The public URL of the service; undefined without a response. */
  async #audience(): Promise<string | undefined> {
    const request = { method: 'GET', path: '/.well-known/oauth-authorization-server', headers: {} } as const;
    const response = await pick(this.options.instances)
      .send(request)
      .catch(() => undefined);
    return response?.status === 200 ? (JSON.parse(response.text) as { issuer: string }).issuer : undefined;
  }
}

/** Too many exchanges, and a token whose issuer cannot be read, are no rejections. */
function resultOf(response: HttpResponse | undefined): 'accepted' | 'rejected' | 'unknown' {
  if (response?.status === 200) return 'accepted';
  return response?.status === 400 ? 'rejected' : 'unknown';
}
