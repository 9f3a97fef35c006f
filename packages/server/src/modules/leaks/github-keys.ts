/**
 * The public keys with which GitHub signs its reports. They are fetched when a report names an unknown one, at most once a
 * minute, or they come from a file (KEYREEVE_GITHUB_SCANNING_KEYS).
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/json.ts';

export const githubKeysUrl = 'https://api.github.com/meta/public_keys/secret_scanning';

/** Public keys by their identifiers. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

const refreshMs = limits.githubKeysRefreshSeconds * 1_000;

/**
 * Reads the response of {@link githubKeysUrl}: `{"public_keys": [{"key_identifier": "…", "key": "<PEM>"}, …]}`. Keys that
 * are not EC P-256 are ignored.
 * @throws Error that says what is wrong, such as "has no public key"
 */
export function parsePublicKeys(bytes: Uint8Array): PublicKeys {
  const listed = membersOf(bytes)['public_keys'];
  if (!Array.isArray(listed)) throw new Error('has no array public_keys');
  const keys = listed.flatMap((entry: unknown) => {
    const { key_identifier: id, key } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    const parsed = typeof key === 'string' ? publicKeyOf(key) : undefined;
    return typeof id === 'string' && parsed ? [[id, parsed] as const] : [];
  });
  if (keys.length === 0) throw new Error('has no public key of the type EC P-256');
  return new Map(keys);
}

function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return (parseJson(bytes) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    throw new Error('is not JSON');
  }
}

function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}

export interface FindPublicKey {
  /**
   * @returns undefined if GitHub has no such key
   * @throws DomainError `unavailable` if the keys cannot be fetched
   */
  find(id: string): Promise<KeyObject | undefined>;
}

/** Keys that never change. */
export const fixedKeys = (keys: PublicKeys): FindPublicKey => ({ find: (id) => Promise.resolve(keys.get(id)) });

export interface FetchedKeysOptions {
  /** @returns the response of {@link githubKeysUrl} */
  readonly fetch: () => Promise<Uint8Array>;
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export class FetchedKeys implements FindPublicKey {
  readonly #options: FetchedKeysOptions;
  readonly #now: () => number;
  #keys: PublicKeys = new Map();
  /** The latest attempt to fetch the keys; false after a failure. */
  #attempt: Promise<boolean> = Promise.resolve(true);
  #attemptedMs = -Infinity;

  constructor(options: FetchedKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
  }

  async find(id: string): Promise<KeyObject | undefined> {
    const known = this.#keys.get(id);
    if (known) return known;
    const now = this.#now();
    if (now - this.#attemptedMs >= refreshMs) {
      this.#attemptedMs = now;
      this.#attempt = this.#fetch();
    }
    const hasFetched = await this.#attempt;
    const found = this.#keys.get(id);
    if (found || hasFetched) return found;
    throw new DomainError('unavailable', {
      detail: 'The public keys of GitHub cannot be fetched.',
      retryAfterSeconds: Math.max(1, Math.ceil((this.#attemptedMs + refreshMs - this.#now()) / 1_000)),
    });
  }

  async #fetch(): Promise<boolean> {
    try {
      this.#keys = parsePublicKeys(await this.#options.fetch());
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    }
  }
}
