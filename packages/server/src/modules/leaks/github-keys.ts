/**
 * The public keys with which GitHub signs its reports. They are fetched when a report names an unknown one or they are older
 * than a day, at most once a minute, or they come from a file (KEYREEVE_GITHUB_SCANNING_KEYS).
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
const ageMsMax = limits.githubKeysAgeSecondsMax * 1_000;

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
   * @throws DomainError `unavailable` if the keys cannot be fetched, or too many reports wait for them
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
  /** The start of the latest attempt that succeeded. */
  #fetchedMs = -Infinity;
  #isFetching = false;
  /** Reports that wait for the attempt. Each holds a body of up to 1 MiB, and no signature of it was verified. */
  #waiting = 0;

  constructor(options: FetchedKeysOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
  }

  async find(id: string): Promise<KeyObject | undefined> {
    const known = this.#keys.get(id);
    if (known) {
      // In the background: a report by a known key does not depend on GitHub's availability.
      if (this.#now() - this.#fetchedMs >= ageMsMax) this.#fetchIfDue();
      return known;
    }
    this.#fetchIfDue();
    const hasFetched = await this.#wait();
    const found = this.#keys.get(id);
    if (found || hasFetched) return found;
    const untilDueMs = this.#attemptedMs + refreshMs - this.#now();
    throw unavailable('The public keys of GitHub cannot be fetched.', untilDueMs);
  }

  async #wait(): Promise<boolean> {
    if (this.#isFetching && this.#waiting >= limits.githubKeysWaitingMax)
      throw unavailable('Too many reports wait for the public keys of GitHub.', limits.githubKeysMsMax);
    this.#waiting++;
    try {
      return await this.#attempt;
    } finally {
      this.#waiting--;
    }
  }

  #fetchIfDue(): void {
    const now = this.#now();
    if (now - this.#attemptedMs < refreshMs) return;
    this.#attemptedMs = now;
    this.#attempt = this.#fetch(now);
  }

  /** @returns false after a failure, which keeps the earlier keys */
  async #fetch(startedMs: number): Promise<boolean> {
    this.#isFetching = true;
    try {
      this.#keys = parsePublicKeys(await this.#options.fetch());
      this.#fetchedMs = startedMs;
      return true;
    } catch (error) {
      this.#options.onFailure(error);
      return false;
    } finally {
      this.#isFetching = false;
    }
  }
}

const unavailable = (detail: string, retryAfterMs: number): DomainError =>
  new DomainError('unavailable', { detail, retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)) });
