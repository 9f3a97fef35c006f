/**
 * The keys that sign access tokens. They are in the database, with the private keys sealed under the master key.
 *
 * A key is published (RFC 7517) before it signs, so that clients that cache the public keys fetch it in time. It stays
 * published until the last token that it signed has expired. The newest active key of the configured algorithm signs.
 * When the clock is behind the activation of all keys, the newest signs: a clock that was set back must not stop
 * sign-ins. A revoked key is neither published nor accepted from then on.
 */
import { createPublicKey, randomBytes, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { limits, type Jwks } from '@keyreeve/contract';
import type { Guard, Principal } from '../../foundation/principal.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { DomainError } from '../../foundation/errors.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import {
  createFirstSigningKey,
  createNextSigningKey,
  replaceSigningKeys,
  listSigningKeys,
  listSigningKeyTimes,
  type SigningKeyRow,
  type SigningKeyTimes,
} from './store.ts';

export const signingAlgorithms = ['ES256', 'EdDSA', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** `next`: published, does not sign yet. `active`: signs. `retired`: published, no longer signs. `gone`: not published. */
export type SigningKeyState = 'next' | 'active' | 'retired' | 'gone';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly state: SigningKeyState;
  readonly createdAt: number;
  readonly activatesAt: number;
  readonly revokedAt: number | null;
}

/** The public part of a signing key. */
export interface VerificationKey {
  readonly kid: string;
  /** The only algorithm that the key may be used with. */
  readonly alg: string;
  readonly key: KeyObject;
  readonly signatureBytes: number;
}

export interface SigningKeysOptions extends RecordingCore {
  readonly seal: Sealer;
  readonly alg: SigningAlgorithm;
  readonly accessTokenTtlSeconds: number;
  /** Checks the principal in the transaction of a rotation. Absent: no account rotates keys. */
  readonly guard?: Guard;
}

/** An older signing key should be rotated (ASVS 11.1.1). */
export const signingKeyAgeDaysMax = 180;

const skewMs = limits.clockSkewSeconds * 1000;
const kidPattern = /^[A-Za-z0-9_-]{22}$/;

export class SigningKeys {
  readonly #options: SigningKeysOptions;
  /** Imported keys by `kid`. They never change. Whether a key may be used is read from the database each time. */
  readonly #publicKeys = new Map<string, VerificationKey>();
  readonly #privateKeys = new Map<string, CryptoKey>();
  /** Calls at the same time share one read. */
  readonly #times: CoalescingReader<undefined, SigningKeyTimes[]>;
  /** Keys by `kid`. After a start or a rotation, all verifications wait for the same one. */
  readonly #rows: CoalescingReader<string, SigningKeyRow>;

  constructor(options: SigningKeysOptions) {
    const { db } = options;
    this.#options = options;
    this.#times = new CoalescingReader(async (lookups) => {
      const rows = await listSigningKeyTimes(db);
      return lookups.map(() => rows);
    }, db.sharedReads);
    this.#rows = new CoalescingReader(async (kids) => {
      const rows = await listSigningKeys(db, { isShared: true });
      return kids.map((kid) => rows.find((row) => row.kid === kid));
    }, db.sharedReads);
  }

  /**
   * Creates a key of the configured algorithm unless one is active: without an active key sign-ins would fail. The new
   * key signs at once, because no client has cached the public keys yet.
   */
  async ensure(): Promise<void> {
    const { db, alg, clock } = this.#options;
    const now = clock.now();
    const rows = await listSigningKeys(db);
    if (rows.some((row) => row.alg === alg && row.revokedAt === null && row.activatesAt <= now)) return;
    await createFirstSigningKey(db, await this.#generate(now));
  }

  /** All keys that were ever created, with their current states, newest last. */
  async list(): Promise<SigningKey[]> {
    const rows = await listSigningKeys(this.#options.db);
    return rows.map((row) => ({
      kid: row.kid,
      alg: row.alg,
      state: this.#stateOf(row, rows),
      createdAt: row.createdAt,
      activatesAt: row.activatesAt,
      revokedAt: row.revokedAt,
    }));
  }

  /**
   * Creates the next key. It starts to sign after `limits.signingKeyLeadSeconds`, so that clients can fetch it first.
   * @param options.immediately for a leaked key: the new key signs at once and all others are revoked, which invalidates
   *   all access tokens
   * @returns the new key
   * @throws DomainError `signing_key_waiting` if a key already waits to sign, except immediately; `invalid_access_token`
   */
  async rotate(principal: Principal, { immediately }: { immediately: boolean }): Promise<SigningKeyTimes> {
    const { db, clock, revocations, guard } = this.#options;
    const now = clock.now();
    const key = await this.#generate(immediately ? now : now + limits.signingKeyLeadSeconds * 1000);
    if (immediately) await replaceSigningKeys(db, principal, key, guard);
    else if (!(await createNextSigningKey(db, principal, key, guard))) throw new DomainError('signing_key_waiting');
    // All revoked keys: they are few, and a repeated record has no effect.
    const revoked =
      immediately && revocations ? (await listSigningKeys(db)).filter((row) => row.revokedAt !== null) : [];
    if (revoked.length > 0)
      await revocations?.record(
        revoked.map(({ kid, revokedAt }) => ({ kind: 'signing_key', id: kid, at: revokedAt ?? now })),
      );
    return key;
  }

  /** A key that signs at once. The caller stores it. */
  newKey(): Promise<SigningKeyRow> {
    return this.#generate(this.#options.clock.now());
  }

  /** The published keys, without their private parts. */
  async jwks(): Promise<Jwks> {
    const rows = await listSigningKeys(this.#options.db);
    return {
      keys: rows
        .filter((row) => this.#stateOf(row, rows) !== 'gone')
        .map((row) => {
          const { kty = '', crv, x, y, n, e } = JSON.parse(row.publicJwk) as JWK;
          const fields = Object.entries({ crv, x, y, n, e }).filter(([, value]) => value !== undefined);
          return { kty, kid: row.kid, alg: row.alg, use: 'sig', ...Object.fromEntries(fields) };
        }),
    };
  }

  /**
   * The key that signs now.
   * @throws DomainError `unavailable` when there is no unrevoked key of the configured algorithm
   */
  async signer(): Promise<{ kid: string; alg: string; key: CryptoKey }> {
    const { alg, seal } = this.#options;
    const times = this.#activeKey(await this.#listTimes());
    if (!times) throw unavailable(new Error(`there is no unrevoked signing key for ${alg}; restart to create one`));
    const { kid } = times;
    let key = this.#privateKeys.get(kid);
    if (!key) {
      const row = await this.#rows.read(kid);
      if (!row) throw unavailable(new Error(`the signing key ${kid} is missing`));
      const jwk = JSON.parse(seal.open(kid, row.privateJwk)) as JWK;
      key = (await importJWK(jwk, alg)) as CryptoKey;
      this.#privateKeys.set(kid, key);
    }
    return { kid, alg, key };
  }

  /**
   * The public key with this `kid`. It may be retired or revoked: check
   * {@link mayHaveSigned}, and the revocation together with the session (`sessions/store.ts`).
   */
  async verifier(kid: unknown): Promise<VerificationKey | undefined> {
    if (typeof kid !== 'string' || !kidPattern.test(kid)) return undefined;
    const cached = this.#publicKeys.get(kid);
    if (cached) return cached;
    // Any client can invent a `kid`, so it costs a shared read at most.
    if (!(await this.#listTimes()).some((candidate) => candidate.kid === kid)) return undefined;
    const row = await this.#rows.read(kid);
    if (!row) return undefined;
    const key = createPublicKey({ key: { ...(JSON.parse(row.publicJwk) as JWK) }, format: 'jwk' });
    // That of RSA has the length of the modulus, those of P-256 and Ed25519 have 512 bits.
    const signatureBytes = (key.asymmetricKeyDetails?.modulusLength ?? 512) / 8;
    const verifier = { kid, alg: row.alg, key, signatureBytes };
    this.#publicKeys.set(kid, verifier);
    return verifier;
  }

  /**
   * Whether this installation can have signed a token with the key at that time: after the key's activation, before the
   * activation of its successor, and within the lifetime of tokens. So a stolen key that does not sign now is useless.
   * Read each time, because another instance may have rotated the keys.
   * @param issuedAt milliseconds since 1970
   */
  async mayHaveSigned(kid: string, issuedAt: number): Promise<boolean> {
    const rows = await this.#listTimes();
    const row = rows.find((candidate) => candidate.kid === kid);
    if (!row || this.#isNotActiveYet(row, rows, issuedAt)) return false;
    const until = this.#signsUntil(row, rows);
    return issuedAt <= until + skewMs && this.#options.clock.now() <= until + this.#retentionMs;
  }

  async #listTimes(): Promise<readonly SigningKeyTimes[]> {
    return (await this.#times.read(undefined)) ?? [];
  }

  #stateOf(row: SigningKeyTimes, rows: readonly SigningKeyTimes[]): SigningKeyState {
    if (row.revokedAt !== null) return 'gone';
    if (row === this.#activeKey(rows)) return 'active';
    const now = this.#options.clock.now();
    if (row.activatesAt > now) return 'next';
    return now <= this.#signsUntil(row, rows) + this.#retentionMs ? 'retired' : 'gone';
  }

  /** The newest active key of the configured algorithm. When none is active yet: the newest. */
  #activeKey<Row extends SigningKeyTimes>(rows: readonly Row[]): Row | undefined {
    const { alg, clock } = this.#options;
    const usable = rows.filter((row) => row.alg === alg && row.revokedAt === null);
    return usable.findLast((row) => row.activatesAt <= clock.now()) ?? usable.at(-1);
  }

  /**
   * Whether the key is not active yet although another unrevoked key of its algorithm is. Clocks may differ: an instance
   * whose clock is ahead may already sign with this key, and one whose clock is behind may have signed with it when no
   * key was active yet. The second case depends on the token's own time, which a thief of the key chooses. So that time
   * counts only within the tolerated clock difference.
   */
  #isNotActiveYet(row: SigningKeyTimes, rows: readonly SigningKeyTimes[], issuedAt: number): boolean {
    const now = this.#options.clock.now();
    const signedAt = Math.max(issuedAt, now - skewMs);
    return (
      row.activatesAt > now + skewMs &&
      rows.some((other) => other.alg === row.alg && other.revokedAt === null && other.activatesAt <= signedAt)
    );
  }

  /**
   * When the next key is activated; infinity without one. A key of an algorithm that is not configured does not sign, so
   * it does not succeed a key that does.
   * @param rows ordered by activation
   */
  #signsUntil(row: SigningKeyTimes, rows: readonly SigningKeyTimes[]): number {
    const { alg } = this.#options;
    const successor = rows
      .slice(rows.indexOf(row) + 1)
      .find((other) => other.revokedAt === null && (row.alg !== alg || other.alg === alg));
    return successor?.activatesAt ?? Number.POSITIVE_INFINITY;
  }

  /** How long a key stays published after it has signed its last token. */
  get #retentionMs(): number {
    return this.#options.accessTokenTtlSeconds * 1000 + skewMs;
  }

  async #generate(activatesAt: number): Promise<SigningKeyRow> {
    const { alg, seal, clock } = this.#options;
    const kid = randomBytes(16).toString('base64url');
    const pair = await generateKeyPair(alg, { extractable: true, ...(alg === 'RS256' ? { modulusLength: 3072 } : {}) });
    return {
      kid,
      alg,
      publicJwk: JSON.stringify(await exportJWK(pair.publicKey)),
      privateJwk: seal.seal(kid, JSON.stringify(await exportJWK(pair.privateKey))),
      createdAt: clock.now(),
      activatesAt,
      revokedAt: null,
    };
  }
}
