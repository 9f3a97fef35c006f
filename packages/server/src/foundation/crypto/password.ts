/**
 * Password hashes: Argon2id, then HMAC-SHA-256 under a key of the installation (a pepper that can be changed without
 * knowing the passwords), kept as a PHC string whose `keyid` names the pepper. Sources: OWASP Password Storage,
 * ASVS 5.0 11.4.2, RFC 9106.
 *
 * A hash that another system made is kept in the same way, its digest under the pepper, until its first sign-in.
 *
 * Hashing is the one expensive thing a stranger can ask for, so it has a bounded queue: what doesn't fit is refused
 * before anything is hashed (ASVS 15.2.2).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hashRaw } from '@node-rs/argon2';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { parseForeignHash } from './foreign-hash-formats.ts';
import { costOf, decodeParameters, deriveForeign, encodeParameters, type ForeignRecipe } from './foreign-hash.ts';
import type { KeyedHash } from './keyed-hash.ts';

export interface Argon2Parameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** ASVS 5.0 appendix C. 46 MiB for each hash that runs. */
export const argon2Default: Argon2Parameters = { memoryKib: 47_104, passes: 1, lanes: 1 };

const saltBytes = 16;
const tagBytes = 32;
/** Base64 of `p1`: the first pepper. */
const pepperId = 'cDE';
const phcPattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2}),keyid=cDE\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** A salt and a MAC that belong to no password; bcrypt needs 16 bytes of salt, and others take as many. */
const dummyRest = `${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** A hash of another system; the last part is the MAC of its digest. */
const importedPattern = /^\$imported\$([a-z0-9-]+)\$([a-z0-9=,]+),keyid=cDE\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/;

/** What happens to the queue, for metrics. */
export interface PasswordStats {
  running: number;
  waiting: number;
  hashed: number;
  refused: number;
}

export class PasswordHasher {
  readonly stats: PasswordStats = { running: 0, waiting: 0, hashed: 0, refused: 0 };
  /** Hashes at once; each uses a thread and its memory. */
  readonly concurrency: number;
  /** Hashes that may wait for their turn. */
  readonly queueMax: number;
  readonly #pepper: KeyedHash;
  readonly #parameters: Argon2Parameters;
  readonly #queue: (() => void)[] = [];
  readonly #dummy: string;
  /** Moving mean of one hash. */
  #hashMs = 30;

  /** @param share of the machine's bounds that this process has: one of its workers has an n-th, and one hash at least */
  constructor(pepper: KeyedHash, parameters: Argon2Parameters = argon2Default, concurrency?: number, share = 1) {
    this.#pepper = pepper;
    this.#parameters = parameters;
    this.concurrency = concurrency ?? Math.max(1, Math.floor(Math.min(4, availableParallelism()) * share));
    this.queueMax = Math.ceil(limits.hashQueueMax * share);
    this.#dummy = encodePhc(parameters, randomBytes(saltBytes), randomBytes(tagBytes));
  }

  /** @returns a PHC string */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    return encodePhc(this.#parameters, salt, await this.#derive(password, salt, this.#parameters));
  }

  /**
   * What is kept of a hash that another system made: {@link verify} judges by it, and {@link isOutdated} says so.
   * @throws ForeignHashError with the reason why it can't be used
   */
  adopt(foreign: string): string {
    const { recipe, digest } = parseForeignHash(foreign);
    return encodeImported(recipe, this.#pepper.mac(digest));
  }

  /**
   * Whether the password belongs to the PHC string. Without one (no such account) the same work is done on a fixed
   * string that nothing matches, so that the time tells nothing. Empty is like none: an account without a password.
   * @param asTyped what another system hashed, which need not have normalised it
   * @throws DomainError `overloaded` before anything is hashed
   */
  async verify(password: string, phc: string | undefined, asTyped = password): Promise<boolean> {
    const imported = phc === undefined ? undefined : decodeImported(phc);
    if (imported) return timingSafeEqual(await this.#compute(() => deriveForeign(imported, asTyped)), imported.tag);
    const known = phc === '' ? undefined : phc;
    const { parameters, salt, tag } = decodePhc(known ?? this.#dummy);
    const matches = timingSafeEqual(await this.#derive(password, salt, parameters), tag);
    return matches && known !== undefined;
  }

  /**
   * {@link verify} for a sign-in: after the same work for every stored string, and for none. That is one hash of ours and
   * one of each imported recipe, of which those that the string has no use for are computed for nothing.
   * @param recipes of imported hashes that wait for their first sign-in, as {@link matchedRecipes} chooses them
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
      const computed = isOwn && imported ? imported : decodeImported(`${recipe},keyid=${pepperId}$${dummyRest}`);
      if (!computed) throw new Error('a recipe is not in a known form');
      const digest = await this.#compute(() => deriveForeign(computed, asTyped));
      const matches = timingSafeEqual(digest, computed.tag);
      if (isOwn) isRight = matches;
    }
    const native = await this.verify(password, imported ? undefined : phc);
    if (!imported) return native;
    // Its recipe is too new to be known, or too costly to be matched.
    return recipes.includes(ownRecipe ?? '') ? isRight : this.verify(password, phc, asTyped);
  }

  /** Whether a stored string was made with other parameters than today's, or by another system. */
  isOutdated(phc: string): boolean {
    if (importedPattern.test(phc)) return true;
    const { parameters } = decodePhc(phc);
    return JSON.stringify(parameters) !== JSON.stringify(this.#parameters);
  }

  /** How many checks may be in progress before the last of them is expected to wait too long. */
  get checksMax(): number {
    const inTime = Math.floor((this.concurrency * limits.hashWaitMsMax) / this.#hashMs);
    return Math.max(1, Math.min(this.concurrency + this.queueMax, inTime));
  }

  /** @throws DomainError `overloaded` when a hash asked for now would have to wait too long */
  assertCapacity(): void {
    const waiting = this.#queue.length;
    const expectedWaitMs = ((waiting + 1) / this.concurrency) * this.#hashMs;
    if (this.stats.running < this.concurrency) return;
    if (waiting < this.queueMax && expectedWaitMs <= limits.hashWaitMsMax) return;
    this.stats.refused++;
    throw new DomainError('overloaded', { retryAfterSeconds: Math.max(1, Math.ceil(expectedWaitMs / 1000)) });
  }

  #derive(password: string, salt: Uint8Array, parameters: Argon2Parameters): Promise<Buffer> {
    const { memoryKib: memoryCost, passes: timeCost, lanes: parallelism } = parameters;
    return this.#compute(() => hashRaw(password, { memoryCost, timeCost, parallelism, outputLen: tagBytes, salt }));
  }

  /** In its turn, then under the pepper. */
  async #compute(hash: () => Promise<Buffer>): Promise<Buffer> {
    this.assertCapacity();
    await this.#enter();
    const startedMs = monotonicMs();
    try {
      const raw = await hash();
      this.stats.hashed++;
      return this.#pepper.mac(raw);
    } finally {
      this.#hashMs = this.#hashMs * 0.9 + (monotonicMs() - startedMs) * 0.1;
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.stats.running < this.concurrency) {
      this.stats.running++;
      return;
    }
    this.stats.waiting++;
    await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.stats.waiting--;
  }

  /** Hands the place to the next in line, so that a newcomer can't take it in between. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.stats.running--;
  }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '');

function encodePhc({ memoryKib, passes, lanes }: Argon2Parameters, salt: Uint8Array, tag: Uint8Array): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes},keyid=${pepperId}$${toBase64(salt)}$${toBase64(tag)}`;
}

function decodePhc(phc: string): { parameters: Argon2Parameters; salt: Buffer; tag: Buffer } {
  const [, memoryKib, passes, lanes, salt, tag] = phcPattern.exec(phc) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('a stored password hash is not in a known form');
  return {
    parameters: { memoryKib: Number(memoryKib), passes: Number(passes), lanes: Number(lanes) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

const encodeImported = (recipe: ForeignRecipe, tag: Uint8Array): string =>
  `$imported$${recipe.scheme}$${encodeParameters(recipe)},keyid=${pepperId}$${toBase64(recipe.salt)}$${toBase64(tag)}`;

/** As the database has it: a stored string up to its `keyid`. */
const recipeOf = (recipe: Omit<ForeignRecipe, 'salt'>): string =>
  `$imported$${recipe.scheme}$${encodeParameters({ ...recipe, salt: Buffer.of() })}`;

/**
 * The recipes whose work every sign-in matches: the cheapest first, as long as together they cost at most what one hash
 * may that an import accepts.
 */
export function matchedRecipes(recipes: readonly string[]): string[] {
  const costs = recipes
    .map((recipe) => ({ recipe, decoded: decodeImported(`${recipe},keyid=${pepperId}$${dummyRest}`) }))
    .flatMap(({ recipe, decoded }) => (decoded ? [{ recipe, cost: costOf(decoded) }] : []))
    .toSorted((a, b) => a.cost - b.cost);
  let left = 1;
  return costs.filter(({ cost }) => (left -= cost) >= 0).map(({ recipe }) => recipe);
}

/** @returns undefined for what isn't of another system */
function decodeImported(text: string): (ForeignRecipe & { tag: Buffer }) | undefined {
  const [, scheme, parameters, salt, tag] = importedPattern.exec(text) ?? [];
  if (scheme === undefined || parameters === undefined || salt === undefined || tag === undefined) return undefined;
  const recipe = decodeParameters(scheme, parameters);
  return { ...recipe, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}
