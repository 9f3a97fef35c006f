/**
 * The keys that sign access tokens. They live in the database, the private halves sealed under the master key.
 *
 * A key is published before it signs, so that whoever caches the public keys knows it in time, and stays published
 * until the last token that it signed has expired (RFC 7517). The times alone decide which key signs: the newest active
 * one of the configured algorithm. When the clock is behind the activation of all of them, the newest signs: a clock that
 * was set back must not stop sign-ins. A revoked key is gone at once.
 */
import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { limits, type Jwks } from '@keyreeve/contract';
import type { Principal } from '../../foundation/principal.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Db } from '../../foundation/database/db.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import {
  createFirstSigningKey,
  createSigningKey,
  listSigningKeys,
  listSigningKeyTimes,
  type SigningKeyRow,
  type SigningKeyTimes,
} from './store.ts';

export const signingAlgorithms = ['ES256', 'EdDSA', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** `next`: published, doesn't sign yet. `active`: signs. `retired`: still verifies. `gone`: neither. */
export type SigningKeyState = 'next' | 'active' | 'retired' | 'gone';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly state: SigningKeyState;
  readonly createdAt: number;
  readonly activatesAt: number;
  readonly revokedAt: number | null;
}

export interface SigningKeysOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly seal: Sealer;
  readonly alg: SigningAlgorithm;
  readonly accessTokenTtlSeconds: number;
  /** None where no journal is kept. */
  readonly revocations?: Revocations | undefined;
}

const skewMs = limits.clockSkewSeconds * 1000;
const kidPattern = /^[A-Za-z0-9_-]{22}$/;

export class SigningKeys {
  readonly #options: SigningKeysOptions;
  /** Imported key material by kid. It never changes; whether a key may be used is read each time. */
  readonly #publicKeys = new Map<string, { alg: string; key: CryptoKey }>();
  readonly #privateKeys = new Map<string, CryptoKey>();
  /** All that ask at once get the same list. */
  readonly #times: CoalescingReader<undefined, SigningKeyTimes[]>;

  constructor(options: SigningKeysOptions) {
    const { db } = options;
    this.#options = options;
    this.#times = new CoalescingReader(async (questions) => {
      const rows = await listSigningKeyTimes(db);
      return questions.map(() => rows);
    }, db.sharedReads);
  }

  /**
   * Makes the first key of the configured algorithm, unless there is one that signs. It signs at once: nobody caches
   * anything yet. One whose time is yet to come doesn't do: until then nobody could sign in.
   */
  async ensure(): Promise<void> {
    const { db, alg, clock } = this.#options;
    const now = clock.now();
    const rows = await listSigningKeys(db);
    if (rows.some((row) => row.alg === alg && row.revokedAt === null && row.activatesAt <= now)) return;
    await createFirstSigningKey(db, await this.#generate(now));
  }

  /** Every key ever made with its state now, newest last. */
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
   * Makes the next key. It begins to sign once others have had time to fetch it; with `immediately` it signs at once
   * and every other key is revoked, which ends all access tokens there are (for when a key has leaked).
   */
  async rotate(principal: Principal, { immediately }: { immediately: boolean }): Promise<string> {
    const { db, clock, revocations } = this.#options;
    const now = clock.now();
    const key = await this.#generate(immediately ? now : now + limits.signingKeyLeadSeconds * 1000);
    await createSigningKey(db, principal, key, immediately);
    // All that ever were: they are few, and what was recorded twice counts once.
    const revoked =
      immediately && revocations ? (await listSigningKeys(db)).filter((row) => row.revokedAt !== null) : [];
    if (revoked.length > 0)
      await revocations?.record(
        revoked.map(({ kid, revokedAt }) => ({ kind: 'signing_key', id: kid, at: revokedAt ?? now })),
      );
    return key.kid;
  }

  /** What others check tokens with: public halves only. */
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
   * The key that signs now. Callers that sign at the same time share the read.
   * @throws DomainError `unavailable` when there is no unrevoked key of the configured algorithm
   */
  async signer(): Promise<{ kid: string; alg: string; key: CryptoKey }> {
    const { db, alg, seal } = this.#options;
    const times = this.#signing(await this.#listTimes());
    if (!times) throw unavailable(new Error(`there is no unrevoked signing key for ${alg}; restart to create one`));
    const { kid } = times;
    let key = this.#privateKeys.get(kid);
    if (!key) {
      const row = (await listSigningKeys(db)).find((candidate) => candidate.kid === kid);
      if (!row) throw unavailable(new Error(`the signing key ${kid} is missing`));
      const jwk = JSON.parse(seal.open(kid, row.privateJwk)) as JWK;
      key = (await importJWK(jwk, alg)) as CryptoKey;
      this.#privateKeys.set(kid, key);
    }
    return { kid, alg, key };
  }

  /**
   * The public key of a token's `kid`, whose algorithm is the only one it may be used with. Whether it still counts is
   * asked afterwards: {@link vouchesFor}, and together with the session whether it is revoked (`tokens/store.ts`).
   */
  async verifier(kid: unknown): Promise<{ alg: string; key: CryptoKey } | undefined> {
    if (typeof kid !== 'string' || !kidPattern.test(kid)) return undefined;
    const known = this.#publicKeys.get(kid);
    if (known) return known;
    // What anybody can make up costs a read that others share, and nothing more.
    if (!(await this.#listTimes()).some((candidate) => candidate.kid === kid)) return undefined;
    const row = (await listSigningKeys(this.#options.db)).find((candidate) => candidate.kid === kid);
    if (!row) return undefined;
    const key = (await importJWK(JSON.parse(row.publicJwk) as JWK, row.alg)) as CryptoKey;
    const verifier = { alg: row.alg, key };
    this.#publicKeys.set(kid, verifier);
    return verifier;
  }

  /**
   * Whether a token that the key has signed can be one of ours: made before another key took over, not longer ago than
   * tokens live, and not by a key that is yet to take over. So a stolen key that does not sign now is of no use. Read
   * each time, because a rotation may have been made elsewhere.
   * @param issuedAt milliseconds
   */
  async vouchesFor(kid: string, issuedAt: number): Promise<boolean> {
    const rows = await this.#listTimes();
    const row = rows.find((candidate) => candidate.kid === kid);
    if (!row || this.#isAheadOfItsTime(row, rows, issuedAt)) return false;
    const until = this.#signsUntil(row, rows);
    return issuedAt <= until + skewMs && this.#options.clock.now() <= until + this.#keptMs;
  }

  async #listTimes(): Promise<readonly SigningKeyTimes[]> {
    return (await this.#times.read(undefined)) ?? [];
  }

  #stateOf(row: SigningKeyTimes, rows: readonly SigningKeyTimes[]): SigningKeyState {
    if (row.revokedAt !== null) return 'gone';
    if (row === this.#signing(rows)) return 'active';
    const now = this.#options.clock.now();
    if (row.activatesAt > now) return 'next';
    return now <= this.#signsUntil(row, rows) + this.#keptMs ? 'retired' : 'gone';
  }

  /** The newest active key of the configured algorithm; when none is active yet, the newest. */
  #signing<Row extends SigningKeyTimes>(rows: readonly Row[]): Row | undefined {
    const { alg, clock } = this.#options;
    const usable = rows.filter((row) => row.alg === alg && row.revokedAt === null);
    return usable.findLast((row) => row.activatesAt <= clock.now()) ?? usable.at(-1);
  }

  /**
   * Whether the key is not active yet while another unrevoked one of its algorithm is. With tolerance for both: an
   * instance whose clock is behind may have signed when no key was active yet, and one that is ahead with this one. The
   * time in a token tells which, but a thief chooses it: so it counts as far as clocks may differ.
   */
  #isAheadOfItsTime(row: SigningKeyTimes, rows: readonly SigningKeyTimes[], issuedAt: number): boolean {
    const now = this.#options.clock.now();
    const signedAt = Math.max(issuedAt, now - skewMs);
    return (
      row.activatesAt > now + skewMs &&
      rows.some((other) => other.alg === row.alg && other.revokedAt === null && other.activatesAt <= signedAt)
    );
  }

  /**
   * When the next key takes over; for ever when there is none. `rows` are ordered by when they begin.
   * Keys of another algorithm than the configured one no longer sign, and so take nothing over from one that does.
   */
  #signsUntil(row: SigningKeyTimes, rows: readonly SigningKeyTimes[]): number {
    const { alg } = this.#options;
    const successor = rows
      .slice(rows.indexOf(row) + 1)
      .find((other) => other.revokedAt === null && (row.alg !== alg || other.alg === alg));
    return successor?.activatesAt ?? Number.POSITIVE_INFINITY;
  }

  /** How long a key is published after its last token was made. */
  get #keptMs(): number {
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
