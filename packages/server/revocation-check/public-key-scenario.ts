/**
 * Changes keys with a public key while their short-lived secrets are verified: rotates the public key with an overlap, ends
 * the previous one, disables and enables the key, and deletes it.
 */
import { generateKeyPairSync, randomBytes, randomInt, sign, type KeyObject } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { jwtBearerGrant } from '@keyreeve/contract';
import { systemClock } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import type { CanaryKey } from './canaries.ts';
import { clientIpOfProbes, forgedAddress } from './changed-key.ts';
import { newKeyConditions } from './changing-condition.ts';
import type { AskedOfKey } from './condition.ts';
import { deleteKey, pauseMs } from './key-deletion.ts';
import { endOf, KeyAbandoned, KeyRequests } from './key-requests.ts';
import { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { SecretRecord } from './secret-record.ts';

/** Longer than a key of the scenario exists. */
const overlapSeconds = 3_600;
const assertionSeconds = 60;

/** Creates keys one after the other. Each gets the changes in order, and is deleted. */
export async function runPublicKeyScenario(options: ScenarioOptions): Promise<void> {
  const { canaries, isOver } = options;
  let source: KeySource | undefined;
  while (!isOver()) {
    let key: PublicKeyKey | undefined;
    try {
      if (source === undefined || source.isExhausted) source = new KeySource(await canaries.newAccount(), options);
      key = await PublicKeyKey.register(source, options);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
    if (key) await changeAndDelete(key, options);
    else await setTimeout(pauseMs);
  }
}

async function changeAndDelete(key: PublicKeyKey, { loops, probesMax, prober }: ScenarioOptions): Promise<void> {
  const probe = (): Promise<void> =>
    key.secrets.length === 0 ? setTimeout(pauseMs) : prober.probeAnywhere(pick(key.secrets));
  const probes = new ProbeLoops(loops, probe);
  try {
    await key.exchange('current');
    await probes.more(1 + randomInt(probesMax));
    await key.rotate();
    await key.exchange('current');
    await key.exchange('previous');
    await probes.more(1 + randomInt(probesMax));
    await key.endPrevious();
    await probes.more(1 + randomInt(probesMax));
    if (randomInt(2) === 0) {
      await key.setDisabled(true);
      await key.setDisabled(false);
    }
  } catch (error) {
    if (!(error instanceof KeyAbandoned)) throw error;
  } finally {
    await key.delete();
    await probes.stop();
  }
}

/** A key pair, and the short-lived secrets that its public key issued. */
class Issuer {
  readonly publicKey: object;
  readonly secrets: CanaryKey[] = [];
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { kty, crv, x } = publicKey.export({ format: 'jwk' });
    this.publicKey = { kty, crv, x };
    this.#privateKey = privateKey;
  }

  /** @param audience the public URL of the service */
  assertion(keyId: number, audience: string): string {
    const kid = String(keyId);
    const iat = Math.floor(systemClock.now() / 1_000);
    const jti = randomBytes(24).toString('base64url');
    const claims = { iss: kid, sub: kid, aud: audience, iat, exp: iat + assertionSeconds, jti };
    const signed = [{ alg: 'EdDSA', kid }, claims].map(encode).join('.');
    return `${signed}.${sign(null, Buffer.from(signed), this.#privateKey).toString('base64url')}`;
  }
}

type AskedKey = CanaryKey & { readonly asked: AskedOfKey };

class PublicKeyKey {
  readonly #key: AskedKey;
  readonly #source: KeySource;
  readonly #options: ScenarioOptions;
  readonly #requests: KeyRequests;
  #current: Issuer;
  #previous: Issuer | undefined;
  #secrets = 0;

  /** @returns undefined if the outcome of the registration is unknown */
  static async register(source: KeySource, options: ScenarioOptions): Promise<PublicKeyKey | undefined> {
    const issuer = new Issuer();
    const ask = (id: number): AskedOfKey => ({
      scope: undefined,
      address: clientIpOfProbes,
      forgedAddress,
      secret: new SecretRecord(`no secret of key ${id}`),
      conditions: newKeyConditions(id),
    });
    const key = await source.newKey('created', { ask, publicKey: issuer.publicKey });
    return key?.asked && new PublicKeyKey({ ...key, asked: key.asked }, issuer, source, options);
  }

  private constructor(key: AskedKey, issuer: Issuer, source: KeySource, options: ScenarioOptions) {
    this.#key = key;
    this.#current = issuer;
    this.#source = source;
    this.#options = options;
    this.#requests = new KeyRequests(key.id, source, { ...options, probe: () => this.#probeEverywhere() });
  }

  /** Those that may be valid. */
  get secrets(): readonly CanaryKey[] {
    return [...this.#current.secrets, ...(this.#previous?.secrets ?? [])];
  }

  /** Exchanges an assertion at a random instance, and verifies the secret everywhere. @throws KeyAbandoned */
  async exchange(by: 'current' | 'previous'): Promise<void> {
    const issuer = by === 'current' ? this.#current : this.#previous;
    const audience = await this.#audience();
    if (!issuer || audience === undefined) throw new KeyAbandoned();
    const assertion = issuer.assertion(this.#key.id, audience);
    const body = new URLSearchParams({ grant_type: jwtBearerGrant, assertion }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = { method: 'POST', path: '/auth/oauth/token', headers, body } as const;
    const response = await pick(this.#options.instances)
      .send(request)
      .catch(() => undefined);
    if (response?.status !== 200) throw new KeyAbandoned();
    const { access_token: secret } = JSON.parse(response.text) as { access_token: string };
    const record = new SecretRecord(`short-lived secret ${++this.#secrets} of key ${this.#key.id}`);
    const issued: CanaryKey = { ...this.#key, secret, asked: { ...this.#key.asked, secret: record } };
    issuer.secrets.push(issued);
    this.#options.prober.live.add(issued);
    await this.#options.prober.probeEverywhere(issued);
  }

  /** Replaces the public key. The secrets that it issued stay valid during the overlap. @throws KeyAbandoned */
  async rotate(): Promise<void> {
    const next = new Issuer();
    const replaced = this.#current;
    const effects = replaced.secrets.map((secret) => ({ ...endOf(secret), isDelayed: true }));
    const body = { publicKey: next.publicKey, overlapSeconds };
    await this.#requests.send('rotated', { method: 'POST', path: '/rotate', body }, effects);
    this.#previous = replaced;
    this.#current = next;
    await this.#probeEverywhere();
  }

  /** Ends the previous public key, and with it the secrets that it issued. @throws KeyAbandoned */
  async endPrevious(): Promise<void> {
    const ended = this.#previous?.secrets ?? [];
    await this.#requests.send('publicKeyEnded', { method: 'DELETE', path: '/previous' }, ended.map(endOf));
    this.#previous = undefined;
    for (const secret of ended) this.#options.prober.markDeleted(secret);
  }

  /** @throws KeyAbandoned */
  async setDisabled(disabled: boolean): Promise<void> {
    const effect = { condition: this.#key.asked.conditions.enabled, to: disabled ? 'unmet' : 'met' } as const;
    const kind = disabled ? 'disabled' : 'widened';
    await this.#requests.send(kind, { method: 'PATCH', path: '', body: { disabled } }, [effect]);
  }

  /** Repeats the deletion until its outcome is known, or the run ends. */
  async delete(): Promise<void> {
    const before = this.#probeEverywhere();
    if (await deleteKey(this.#source.session, this.#key.id, this.#options)) await this.#probeEverywhere();
    await before;
    for (const secret of this.secrets) this.#options.prober.markDeleted(secret);
  }

  /** The public URL of the service; undefined without a response. */
  async #audience(): Promise<string | undefined> {
    const request = { method: 'GET', path: '/.well-known/oauth-authorization-server', headers: {} } as const;
    const response = await pick(this.#options.instances)
      .send(request)
      .catch(() => undefined);
    return response?.status === 200 ? (JSON.parse(response.text) as { issuer: string }).issuer : undefined;
  }

  async #probeEverywhere(): Promise<void> {
    await Promise.all(this.secrets.map((secret) => this.#options.prober.probeEverywhere(secret)));
  }
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
