/**
 * Password hashes: Argon2id, then HMAC-SHA-256 under a key of the installation, the pepper (`stored-hash.ts`).
 * Sources: OWASP Password Storage Cheat Sheet, ASVS 5.0 11.4.2, RFC 9106.
 *
 * An imported hash of another system is stored likewise, with its digest under the pepper, until the first sign-in.
 *
 * Hashing is the only expensive operation that clients can request without a credential, so its queue is bounded: a request
 * that does not fit is rejected before any hashing (ASVS 15.2.2).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { limits } from '@keyreeve/contract/limits';
import { monotonicMs } from '../clock.ts';
import { currentSpan } from '../database/share.ts';
import { DomainError } from '../errors.ts';
import type { ForeignHash } from './foreign-format.ts';
import { parseForeignHash } from './foreign-hash-formats.ts';
import {
  algorithmOf,
  ForeignHashError,
  isFast,
  wrapDigestBytes,
  wrapSaltBytes,
  type FastScheme,
  type ForeignRecipe,
} from './foreign-hash.ts';
import { openSuffix, withSuffix } from './bcrypt-suffix.ts';
import { HashingThreads } from './hashing-threads.ts';
import { paddingOf, type MatchedKind } from './imported-work.ts';
import type { Span } from '../tracing.ts';
import { KeyedHash } from './keyed-hash.ts';
import { pepperIdOf, Peppers } from './peppers.ts';
import { readingsOf, seenFormOf, seenOf, type SeenForm } from './seen-password.ts';
import {
  decodeImported,
  decodeStored,
  encodeImported,
  encodeStored,
  isImported,
  type Argon2Parameters,
  type ImportedHash,
} from './stored-hash.ts';

export type { Argon2Parameters } from './stored-hash.ts';

/** ASVS 5.0 appendix C. 46 MiB for each hash that runs. */
export const argon2Default: Argon2Parameters = { memoryKib: 47_104, passes: 1, lanes: 1 };

/** Maximum of concurrent hashes on a machine with enough processors. Each uses 46 MiB. */
const concurrencyMax = 4;
const saltBytes = 16;
const tagBytes = 32;

/** A salt and a MAC that match no password. bcrypt needs 16 bytes of salt; the other schemes accept them. */
const dummySalt = Buffer.alloc(16);
const dummyTag = Buffer.alloc(tagBytes);

export interface AdoptOptions {
  /** Whether fast hashes, such as SHA-256 without rounds, are accepted. */
  readonly acceptsFast?: boolean;
  /** The pepper that the other system, such as Devise, appended to each password before bcrypt. */
  readonly bcryptSuffix?: string | undefined;
}

export interface HasherOptions {
  /** See {@link PasswordHasher.concurrency}. */
  readonly concurrency?: number | undefined;
  /** Default: threads of this hasher. */
  readonly threads?: HashingThreads | undefined;
  /** Receives, once, the reason why hashes run at the usual priority. */
  readonly onWarning?: (detail: string) => void;
}

/** State of the queue, for metrics. */
export interface PasswordStats {
  readonly running: number;
  readonly waiting: number;
  readonly hashed: number;
  readonly refused: number;
}

export class PasswordHasher {
  /**
   * Maximum of concurrent hashes. Each uses a thread and {@link Argon2Parameters.memoryKib} of memory. One processor is left
   * to verifications.
   */
  readonly concurrency: number;
  readonly #peppers: Peppers;
  readonly #parameters: Argon2Parameters;
  readonly #threads: HashingThreads;
  readonly #queue: (() => void)[] = [];
  readonly #dummy: string;
  /** Hashes in the threads: in each, one runs and one waits. */
  #sent = 0;
  #hashed = 0;
  #refused = 0;
  /** Moving average of the duration of a hash, in milliseconds. */
  #hashMs = 30;

  /** @param peppers one pepper is that of the first version of the root key */
  constructor(
    peppers: Peppers | KeyedHash,
    parameters: Argon2Parameters = argon2Default,
    { concurrency, threads, onWarning }: HasherOptions = {},
  ) {
    this.#peppers = peppers instanceof KeyedHash ? new Peppers([[1, peppers]]) : peppers;
    this.#parameters = parameters;
    this.concurrency = concurrency ?? Math.max(1, Math.min(concurrencyMax, availableParallelism() - 1));
    this.#threads = threads ?? new HashingThreads(this.concurrency, onWarning);
    this.#dummy = this.#encodePhc(randomBytes(saltBytes), randomBytes(tagBytes));
  }

  /** Starts the first thread. @throws Error if it cannot start */
  prepare(): void {
    this.#threads.prepare();
  }

  /** @returns the stored form @throws DomainError `overloaded` before any hashing; `unavailable` if the hashing thread ended */
  hash(password: string): Promise<string> {
    return this.#hash(password, undefined);
  }

  /**
   * @returns the stored form of another system's hash. {@link verify} accepts it; {@link isOutdated} returns true for it.
   * @throws ForeignHashError if the hash cannot be used
   */
  adopt(foreign: string, options: AdoptOptions = {}): string {
    const { recipe, digest } = parseForeignHash(foreign);
    if (isFast(recipe.scheme) && options.acceptsFast !== true) throw fastHash(recipe.scheme);
    return this.#encodeImported(withSuffix(recipe, options.bcryptSuffix, this.#peppers.newest), digest);
  }

  /**
   * {@link adopt}, but a fast hash is wrapped in Argon2id: a thief of the database and the pepper tests passwords as slowly
   * as with Keyreeve's own hashes.
   * @throws ForeignHashError if the hash cannot be used; DomainError `overloaded`, `unavailable`
   */
  async adoptWrapped(foreign: string, options: AdoptOptions = {}): Promise<string> {
    const parsed = parseForeignHash(foreign);
    if (!isFast(parsed.recipe.scheme)) return this.adopt(foreign, options);
    return this.#wrap(parsed, parsed.recipe.scheme);
  }

  /**
   * A MAC of another system's hash under the pepper. It shows whether a later file has the same hash, also after a sign-in
   * has replaced the hash. Without the pepper, no password can be tested against it.
   * @param foreign empty for no hash, which has an empty fingerprint
   */
  fingerprint(foreign: string): string {
    const { newest, newestId } = this.#peppers;
    return foreign === '' ? '' : `${newestId}$${fingerprintOf(newest, foreign)}`;
  }

  /** Whether {@link fingerprint} returned the text for this hash. False after the pepper has been deleted. */
  isFingerprint(text: string, foreign: string): boolean {
    if (text === '' || foreign === '') return text === foreign;
    const [id = '', mac] = text.split('$');
    const [, pepper] = this.#peppers.all.find(([version]) => pepperIdOf(version) === id) ?? [];
    return pepper !== undefined && fingerprintOf(pepper, foreign) === mac;
  }

  /**
   * Whether the password matches the stored string. For an unknown account (undefined) or an account without a password
   * (empty), it does the same work on a dummy, so that the duration does not reveal which accounts exist.
   * @param asTyped the password before normalisation, which another system may not have applied
   * @throws DomainError `overloaded` before any hashing; `unavailable` if the hashing thread ended
   */
  async verify(password: string, phc: string | undefined, asTyped = password): Promise<boolean> {
    const imported = phc === undefined ? undefined : decodeImported(phc);
    if (imported) return this.#matchesImported(imported, asTyped);
    const stored = phc === '' ? undefined : phc;
    const { parameters, pepperId, seen, salt, tag } = decodeStored(stored ?? this.#dummy);
    const input = seen === undefined ? password : seenOf(seen, asTyped);
    const matches = timingSafeEqual(await this.#derive(input, salt, parameters, this.#peppers.byId(pepperId)), tag);
    return matches && stored !== undefined;
  }

  /**
   * {@link verify} with the same work for each stored string and for none: one Argon2id hash of this service, and for each
   * algorithm of imported hashes the work of its costliest kind. The results that the string does not have are discarded.
   * @param kinds of imported hashes before their first sign-in, from `matchedKinds`
   */
  async verifyAlike(
    password: string,
    phc: string | undefined,
    asTyped: string,
    kinds: readonly MatchedKind[],
  ): Promise<boolean> {
    const imported = phc === undefined ? undefined : decodeImported(phc);
    const ownAlgorithm = imported && algorithmOf(imported.scheme);
    let isRight: boolean | undefined;
    for (const { algorithm, kind } of kinds) {
      if (imported && algorithm === ownAlgorithm)
        isRight = await this.#matchesImported(imported, asTyped, paddingOf(imported, kind));
      else
        await this.#matchesImported(
          { ...kind, pepperId: this.#peppers.newestId, salt: dummySalt, tag: dummyTag },
          asTyped,
        );
    }
    const native = await this.verify(password, imported ? undefined : phc, asTyped);
    if (!imported) return native;
    // The kind was imported after the list was read, or is too costly to be matched.
    return isRight ?? this.verify(password, phc, asTyped);
  }

  /**
   * @param phc an outdated stored string that the password has matched
   * @returns the stored form that replaces it: of what the other system saw of the password, if it has not seen all of it
   * @throws DomainError `overloaded`, `unavailable`
   */
  async renew(password: string, phc: string, asTyped: string): Promise<string> {
    const imported = decodeImported(phc);
    const seen = imported ? seenFormOf(imported.scheme, asTyped) : decodeStored(phc).seen;
    return this.#hash(seen === undefined ? password : seenOf(seen, asTyped), seen);
  }

  /** Whether a stored string is a fast hash of another system that is not wrapped. */
  isFast(phc: string): boolean {
    const imported = decodeImported(phc);
    return imported !== undefined && isFast(imported.scheme);
  }

  /** Whether a stored string has other parameters or another pepper than new ones, or comes from another system. */
  isOutdated(phc: string): boolean {
    if (isImported(phc)) return true;
    const { parameters, pepperId } = decodeStored(phc);
    if (pepperId !== this.#peppers.newestId) return true;
    return JSON.stringify(parameters) !== JSON.stringify(this.#parameters);
  }

  /** Maximum of verifications in progress for which the last is not expected to wait too long. */
  get checksMax(): number {
    const inTime = Math.floor((this.concurrency * limits.hashWaitMsMax) / this.#hashMs);
    return Math.max(1, Math.min(this.concurrency + limits.hashQueueMax, inTime));
  }

  /** @throws DomainError `overloaded` if a hash that is requested now would wait too long */
  assertCapacity(): void {
    const { running, waiting } = this.stats;
    const expectedWaitMs = ((waiting + 1) / this.concurrency) * this.#hashMs;
    if (running < this.concurrency) return;
    if (waiting < limits.hashQueueMax && expectedWaitMs <= limits.hashWaitMsMax) return;
    this.#refused++;
    throw new DomainError('overloaded', { retryAfterSeconds: Math.max(1, Math.ceil(expectedWaitMs / 1000)) });
  }

  get stats(): PasswordStats {
    const running = Math.min(this.#sent, this.concurrency);
    const waiting = this.#sent - running + this.#queue.length;
    return { running, waiting, hashed: this.#hashed, refused: this.#refused };
  }

  /** Ends the threads. Hashes in progress and later ones fail with `unavailable`. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  async #hash(password: string | Uint8Array, seen: SeenForm | undefined): Promise<string> {
    const salt = randomBytes(saltBytes);
    return this.#encodePhc(salt, await this.#derive(password, salt, this.#parameters, this.#peppers.newest), seen);
  }

  #encodePhc(salt: Buffer, tag: Buffer, seen?: SeenForm): string {
    return encodeStored({ parameters: this.#parameters, pepperId: this.#peppers.newestId, seen, salt, tag });
  }

  #encodeImported(recipe: ForeignRecipe, digest: Uint8Array): string {
    return encodeImported(recipe, this.#peppers.newestId, this.#peppers.newest.mac(digest));
  }

  #derive(
    password: string | Uint8Array,
    salt: Buffer,
    { memoryKib, passes, lanes }: Argon2Parameters,
    pepper: KeyedHash,
  ): Promise<Buffer> {
    const parameters = { v: 19, m: memoryKib, t: passes, p: lanes };
    return this.#compute({ scheme: 'argon2id', parameters, salt, digestBytes: tagBytes }, password, pepper);
  }

  async #wrap({ recipe, digest }: ForeignHash, scheme: FastScheme): Promise<string> {
    const { memoryKib: m, passes: t, lanes: p } = this.#parameters;
    const wrapSalt = randomBytes(wrapSaltBytes);
    const outer = { parameters: { v: 19, m, t, p }, salt: wrapSalt, digestBytes: wrapDigestBytes };
    const tag = await this.#compute({ scheme: 'argon2id', ...outer }, digest, this.#peppers.newest);
    const parameters = { ...recipe.parameters, m, t, p };
    const salt = Buffer.concat([wrapSalt, recipe.salt]);
    return encodeImported({ ...recipe, scheme: `wrapped-${scheme}`, parameters, salt }, this.#peppers.newestId, tag);
  }

  /** @param padding hashes whose work is done after it, and whose results are discarded */
  async #matchesImported(
    imported: ImportedHash,
    asTyped: string,
    padding: readonly ForeignRecipe[] = [],
  ): Promise<boolean> {
    const pepper = this.#peppers.byId(imported.pepperId);
    const recipe = openSuffix(imported, pepper);
    let isRight = false;
    for (const reading of readingsOf(imported.scheme, asTyped)) {
      const tag = await this.#compute(recipe, reading, pepper, padding);
      if (timingSafeEqual(tag, imported.tag)) isRight = true;
    }
    return isRight;
  }

  /** Computes the digest in its turn, then its MAC under the pepper. */
  async #compute(
    { scheme, parameters, salt, digestBytes }: ForeignRecipe,
    password: string | Uint8Array,
    pepper: KeyedHash,
    padding: readonly ForeignRecipe[] = [],
  ): Promise<Buffer> {
    this.assertCapacity();
    const span = currentSpan();
    const requestedMs = span ? monotonicMs() : 0;
    if (this.#sent < this.#sentMax) this.#sent++;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      const recipe = { scheme, parameters, salt, digestBytes };
      const { digest, ms } = await this.#threads.compute(recipe, password, padding);
      this.#hashMs = this.#hashMs * 0.9 + ms * 0.1;
      this.#hashed++;
      if (span) recordHash(span, scheme, requestedMs, ms);
      return pepper.mac(digest);
    } finally {
      // Passes the slot directly to the next waiting hash, so that a later request cannot take it.
      const next = this.#queue.shift();
      if (next) next();
      else this.#sent--;
    }
  }

  get #sentMax(): number {
    return this.concurrency * 2;
  }
}

/** @param ms duration of the computation, which has just ended */
function recordHash(parent: Span, scheme: string, requestedMs: number, ms: number): void {
  const endedMs = monotonicMs();
  const startedMs = Math.max(requestedMs, endedMs - ms);
  parent.child('hash wait', 'internal', requestedMs).end(startedMs);
  parent.child('hash', 'internal', startedMs).set('keyreeve.hash.scheme', scheme).end(endedMs);
}

const fastHash = (scheme: FastScheme): ForeignHashError =>
  new ForeignHashError(`it is a fast hash (${scheme}); --accept-weak imports it, and --wrap wraps it in Argon2id`);

/** The prefix keeps the MAC's input apart from that of a stored hash, which is a digest. */
const fingerprintOf = (pepper: KeyedHash, foreign: string): string =>
  pepper.mac(`fingerprint of a password hash of another system\0${foreign}`).toString('base64url');
