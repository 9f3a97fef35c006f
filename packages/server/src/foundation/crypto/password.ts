/**
 * Password hashes: Argon2id, then HMAC-SHA-256 under a key of the installation, the pepper. The stored form is a PHC string
 * whose `keyid` names the pepper. Sources: OWASP Password Storage Cheat Sheet, ASVS 5.0 11.4.2, RFC 9106.
 *
 * An imported hash of another system is stored likewise, with its digest under the pepper, until the first sign-in.
 *
 * Hashing is the only expensive operation that clients can request without a credential, so its queue is bounded: a request
 * that does not fit is rejected before any hashing (ASVS 15.2.2).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../clock.ts';
import { currentSpan } from '../database/share.ts';
import { DomainError } from '../errors.ts';
import { parseForeignHash } from './foreign-hash-formats.ts';
import { costOf, decodeParameters, encodeParameters, type ForeignRecipe } from './foreign-hash.ts';
import { HashingThreads } from './hashing-threads.ts';
import type { Span } from '../tracing.ts';
import { KeyedHash } from './keyed-hash.ts';
import { pepperIdOf, Peppers } from './peppers.ts';

export interface Argon2Parameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** ASVS 5.0 appendix C. 46 MiB for each hash that runs. */
export const argon2Default: Argon2Parameters = { memoryKib: 47_104, passes: 1, lanes: 1 };

/** Maximum of concurrent hashes on a machine with enough processors. Each uses 46 MiB. */
const concurrencyMax = 4;
const saltBytes = 16;
const tagBytes = 32;
const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2}),keyid=([A-Za-z0-9+/]{3,8})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** A pepper, a salt and a MAC that match no password. bcrypt needs 16 bytes of salt; the other schemes accept them. */
const firstPepperId = pepperIdOf(1);
const dummyRest = `${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** An imported hash. The last part is the MAC of its digest. */
const importedPattern =
  /^\$imported\$([a-z0-9-]+)\$([a-z0-9=,]+),keyid=([A-Za-z0-9+/]{3,8})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/;

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
  /** Maximum of waiting hashes. */
  readonly queueMax: number;
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

  /**
   * @param peppers one pepper is that of the first version of the root key
   * @param share of the machine's bounds for this process: 1/n for one of n workers. At least one hash can run.
   * @param onWarning receives, once, the reason why hashes run at the usual priority
   */
  constructor(
    peppers: Peppers | KeyedHash,
    parameters: Argon2Parameters = argon2Default,
    concurrency?: number,
    share = 1,
    onWarning?: (detail: string) => void,
  ) {
    this.#peppers = peppers instanceof KeyedHash ? new Peppers([[1, peppers]]) : peppers;
    this.#parameters = parameters;
    const whole = Math.min(concurrencyMax, availableParallelism() - 1);
    this.concurrency = concurrency ?? Math.max(1, Math.floor(whole * share));
    this.#threads = new HashingThreads(this.concurrency, onWarning);
    this.queueMax = Math.ceil(limits.hashQueueMax * share);
    this.#dummy = this.#encodePhc(randomBytes(saltBytes), randomBytes(tagBytes));
  }

  /** @returns a PHC string @throws DomainError `overloaded` before any hashing; `unavailable` if the hashing thread ended */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    return this.#encodePhc(salt, await this.#derive(password, salt, this.#parameters, this.#peppers.newest));
  }

  /**
   * @returns the stored form of another system's hash. {@link verify} accepts it; {@link isOutdated} returns true for it.
   * @throws ForeignHashError if the hash cannot be used
   */
  adopt(foreign: string): string {
    const { recipe, digest } = parseForeignHash(foreign);
    return encodeImported(recipe, this.#peppers.newestId, this.#peppers.newest.mac(digest));
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
    if (imported) return timingSafeEqual(await this.#computeImported(imported, asTyped), imported.tag);
    const stored = phc === '' ? undefined : phc;
    const { parameters, pepperId, salt, tag } = decodePhc(stored ?? this.#dummy);
    const pepper = this.#peppers.byId(pepperId);
    const matches = timingSafeEqual(await this.#derive(password, salt, parameters, pepper), tag);
    return matches && stored !== undefined;
  }

  /**
   * {@link verify} with the same work for each stored string and for none: one Argon2id hash of this service and one hash
   * for each imported recipe. The results of the recipes that the string does not have are discarded.
   * @param recipes of imported hashes before their first sign-in, from {@link matchedRecipes}
   */
  async verifyAlike(
    password: string,
    phc: string | undefined,
    asTyped: string,
    recipes: readonly string[],
  ): Promise<boolean> {
    const imported = phc === undefined ? undefined : decodeImported(phc);
    const ownRecipe = imported && recipeOf(imported);
    let isRight = false;
    for (const recipe of recipes) {
      const isOwn = recipe === ownRecipe;
      const computed = isOwn && imported ? imported : decodeImported(`${recipe},keyid=${firstPepperId}$${dummyRest}`);
      if (!computed) throw new Error('a recipe has an unknown format');
      const digest = await this.#computeImported(computed, asTyped);
      const matches = timingSafeEqual(digest, computed.tag);
      if (isOwn) isRight = matches;
    }
    const native = await this.verify(password, imported ? undefined : phc);
    if (!imported) return native;
    // The recipe was imported after the list was read, or is too costly to be matched.
    return recipes.includes(ownRecipe ?? '') ? isRight : this.verify(password, phc, asTyped);
  }

  /** Whether a stored string has other parameters or another pepper than new ones, or comes from another system. */
  isOutdated(phc: string): boolean {
    if (importedPattern.test(phc)) return true;
    const { parameters, pepperId } = decodePhc(phc);
    if (pepperId !== this.#peppers.newestId) return true;
    return JSON.stringify(parameters) !== JSON.stringify(this.#parameters);
  }

  /** Maximum of verifications in progress for which the last is not expected to wait too long. */
  get checksMax(): number {
    const inTime = Math.floor((this.concurrency * limits.hashWaitMsMax) / this.#hashMs);
    return Math.max(1, Math.min(this.concurrency + this.queueMax, inTime));
  }

  /** @throws DomainError `overloaded` if a hash that is requested now would wait too long */
  assertCapacity(): void {
    const { running, waiting } = this.stats;
    const expectedWaitMs = ((waiting + 1) / this.concurrency) * this.#hashMs;
    if (running < this.concurrency) return;
    if (waiting < this.queueMax && expectedWaitMs <= limits.hashWaitMsMax) return;
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

  #encodePhc(salt: Uint8Array, tag: Uint8Array): string {
    const { memoryKib, passes, lanes } = this.#parameters;
    const parameters = `m=${memoryKib},t=${passes},p=${lanes},keyid=${this.#peppers.newestId}`;
    return `$argon2id$v=19$${parameters}$${toBase64(salt)}$${toBase64(tag)}`;
  }

  #derive(
    password: string,
    salt: Buffer,
    { memoryKib, passes, lanes }: Argon2Parameters,
    pepper: KeyedHash,
  ): Promise<Buffer> {
    const parameters = { v: 19, m: memoryKib, t: passes, p: lanes };
    return this.#compute({ scheme: 'argon2id', parameters, salt, digestBytes: tagBytes }, password, pepper);
  }

  #computeImported(imported: ImportedHash, password: string): Promise<Buffer> {
    return this.#compute(imported, password, this.#peppers.byId(imported.pepperId));
  }

  /** Computes the digest in its turn, then its MAC under the pepper. */
  async #compute(
    { scheme, parameters, salt, digestBytes }: ForeignRecipe,
    password: string,
    pepper: KeyedHash,
  ): Promise<Buffer> {
    this.assertCapacity();
    const span = currentSpan();
    const requestedMs = span ? monotonicMs() : 0;
    if (this.#sent < this.#sentMax) this.#sent++;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      const { digest, ms } = await this.#threads.compute({ scheme, parameters, salt, digestBytes }, password);
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

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');

/** The prefix keeps the MAC's input apart from that of a stored hash, which is a digest. */
const fingerprintOf = (pepper: KeyedHash, foreign: string): string =>
  pepper.mac(`fingerprint of a password hash of another system\0${foreign}`).toString('base64url');

interface StoredHash {
  readonly parameters: Argon2Parameters;
  readonly pepperId: string;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function decodePhc(phc: string): StoredHash {
  const [, memoryKib, passes, lanes, pepperId, salt, tag] = phcPattern.exec(phc) ?? [];
  if (pepperId === undefined || salt === undefined || tag === undefined)
    throw new Error('a stored password hash has an unknown format');
  return {
    parameters: { memoryKib: Number(memoryKib), passes: Number(passes), lanes: Number(lanes) },
    pepperId,
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

const encodeImported = (recipe: ForeignRecipe, pepperId: string, tag: Uint8Array): string =>
  `$imported$${recipe.scheme}$${encodeParameters(recipe)},keyid=${pepperId}$${toBase64(recipe.salt)}$${toBase64(tag)}`;

/** The part of a stored string before `keyid`, as queries return it. */
const recipeOf = (recipe: Omit<ForeignRecipe, 'salt'>): string =>
  `$imported$${recipe.scheme}$${encodeParameters({ ...recipe, salt: Buffer.of() })}`;

/** The recipes whose work every sign-in does: the cheapest first, up to the maximum cost of one imported hash. */
export function matchedRecipes(recipes: readonly string[]): string[] {
  const costs = recipes
    .map((recipe) => ({ recipe, decoded: decodeImported(`${recipe},keyid=${firstPepperId}$${dummyRest}`) }))
    .flatMap(({ recipe, decoded }) => (decoded ? [{ recipe, cost: costOf(decoded) }] : []))
    .toSorted((a, b) => a.cost - b.cost);
  let left = 1;
  return costs.filter(({ cost }) => (left -= cost) >= 0).map(({ recipe }) => recipe);
}

type ImportedHash = ForeignRecipe & { readonly pepperId: string; readonly tag: Buffer };

/** @returns undefined if the hash was not imported */
function decodeImported(text: string): ImportedHash | undefined {
  const [, scheme, parameters, pepperId, salt, tag] = importedPattern.exec(text) ?? [];
  if (scheme === undefined || parameters === undefined || pepperId === undefined) return undefined;
  if (salt === undefined || tag === undefined) return undefined;
  const recipe = decodeParameters(scheme, parameters);
  return { ...recipe, pepperId, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}
