/**
 * The JWK sets of issuers: fixed ones, and ones that are fetched through the metadata of the issuer (OpenID Connect Discovery 1.0
 * section 4, RFC 8414) and kept for minutes. A signing key that the issuer has removed is accepted until the set is fetched again.
 * Without a set that is valid now, no token is accepted.
 */
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/json.ts';
import type { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import { failureOf, get, WrongResponse } from '../../foundation/outgoing/guarded-request.ts';
import { Turns } from '../../http/turns.ts';
import { keySetOf, type KeySet, type VerificationKey } from './key-set.ts';
import type { IssuerRow } from './store.ts';

export interface KeySetsOptions {
  readonly guard: AddressGuard;
  /** Certificates of private authorities, in PEM. */
  readonly authorities?: readonly string[] | undefined;
  readonly onFailure?: (issuer: Pick<IssuerRow, 'id' | 'url'>, error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Which set an issuer has. */
type Source = Pick<IssuerRow, 'id' | 'accountId' | 'url' | 'jwks' | 'refreshes'>;

interface Fetched {
  readonly keys: KeySet;
  /** When the fetch began. */
  readonly startedMs: number;
  readonly refreshes: number;
}

/** What is known of one issuer. */
interface Entry {
  fetched: Fetched | undefined;
  /** The fetch in progress. */
  fetching: Promise<Fetched> | undefined;
  /** When the last fetch began, and that of the last one that failed. */
  attemptedMs: number;
  failedMs: number;
  /** Exchanges that wait for the fetch: each holds a token of up to 16 KiB whose signature was not verified. */
  waiting: number;
}

const ageMsMax = limits.issuerKeySetAgeSeconds * 1_000;
/** Sets that are used are fetched again before they are too old, so that exchanges seldom wait. */
const renewalMs = ageMsMax * 0.8;
const refreshMs = limits.issuerKeySetRefreshSeconds * 1_000;
const retryMs = limits.issuerKeySetRetrySeconds * 1_000;
const common = 'common';

export class KeySets {
  /** Fetches since the start. */
  readonly counts = { fetched: 0, failed: 0 };
  readonly #options: KeySetsOptions;
  readonly #now: () => number;
  /** By id, the one that was used least recently first. */
  readonly #commonEntries = new Map<number, Entry>();
  /** A person can declare more issuers for own service accounts than a process keeps. They must remove no common one. */
  readonly #accountEntries = new Map<number, Entry>();
  readonly #fixed = new Map<string, KeySet>();
  readonly #commonFetches = fetchTurns(limits.issuerFetchesMax, limits.issuerFetchesMax);
  // Managers of service accounts declare as many issuers as they have service accounts, and may make them slow.
  readonly #accountFetches = fetchTurns(limits.issuerAccountFetchesMax, 1);

  constructor(options: KeySetsOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
  }

  /**
   * The only key that a token with this `kid` can be signed with.
   * @param keyId null: the token has none, which is accepted if the set has one key
   * @returns undefined if there is none, or if the set has several with the `kid`
   * @throws DomainError `unavailable` if the set cannot be fetched
   */
  async find(source: Source, keyId: string | null): Promise<VerificationKey | undefined> {
    if (source.jwks !== null) return onlyKey(this.#fixedSet(source.jwks), keyId);
    const entry = this.#entryOf(source);
    const valid = this.#validIn(entry, source);
    if (!valid) return onlyKey((await this.#wait(source, entry)).keys, keyId);
    const found = onlyKey(valid.keys, keyId);
    const isKnown = keyId === null || valid.keys.some(({ id }) => id === keyId);
    const sinceAttemptMs = this.#now() - entry.attemptedMs;
    if (isKnown) {
      if (this.#now() - valid.startedMs >= renewalMs && sinceAttemptMs >= retryMs)
        this.#fetch(source, entry).catch(() => undefined);
      return found;
    }
    if (!entry.fetching && sinceAttemptMs < refreshMs) return undefined;
    return onlyKey((await this.#wait(source, entry)).keys, keyId);
  }

  /**
   * The set that {@link find} uses from now on, for a person who wants to see it.
   * @returns the ids of its keys, or why it cannot be fetched
   */
  async show(source: Source): Promise<{ readonly keyIds: (string | null)[]; readonly failure: string | null }> {
    try {
      const { keys } =
        source.jwks === null
          ? await this.#newest(source, this.#entryOf(source))
          : { keys: this.#fixedSet(source.jwks) };
      return { keyIds: keys.map(({ id }) => id), failure: null };
    } catch (error) {
      return { keyIds: [], failure: failureOf(error).text };
    }
  }

  #fixedSet(jwks: string): KeySet {
    const known = this.#fixed.get(jwks);
    if (known) return known;
    const keys = keySetOf(JSON.parse(jwks));
    this.#fixed.set(jwks, keys);
    removeFirst(this.#fixed);
    return keys;
  }

  #entryOf({ id, accountId }: Source): Entry {
    const entries = accountId === null ? this.#commonEntries : this.#accountEntries;
    const entry = entries.get(id) ?? {
      fetched: undefined,
      fetching: undefined,
      attemptedMs: -Infinity,
      failedMs: -Infinity,
      waiting: 0,
    };
    entries.delete(id);
    entries.set(id, entry);
    removeFirst(entries);
    return entry;
  }

  /** The set, unless it is too old or was fetched before a forced refresh. */
  #validIn({ fetched }: Entry, { refreshes }: Source): Fetched | undefined {
    if (fetched?.refreshes !== refreshes) return undefined;
    return this.#now() - fetched.startedMs < ageMsMax ? fetched : undefined;
  }

  /** @throws DomainError `unavailable` */
  async #wait(source: Source, entry: Entry): Promise<Fetched> {
    if (entry.waiting >= limits.issuerKeySetWaitingMax) throw unavailable(limits.issuerKeySetMsMax);
    entry.waiting++;
    try {
      return await this.#newest(source, entry, () => {
        const untilRetryMs = entry.failedMs + retryMs - this.#now();
        if (untilRetryMs > 0) throw unavailable(untilRetryMs);
      });
    } catch (error) {
      throw error instanceof DomainError ? error : unavailable(retryMs, error);
    } finally {
      entry.waiting--;
    }
  }

  /** @param assertDue called before a fetch */
  async #newest(source: Source, entry: Entry, assertDue: () => void = () => undefined): Promise<Fetched> {
    const earlier = await entry.fetching?.catch(() => undefined);
    // A fetch that began before a forced refresh may return keys that the issuer has removed.
    if (earlier && earlier.refreshes >= source.refreshes) return earlier;
    assertDue();
    return this.#fetch(source, entry);
  }

  /** There are never two fetches of one issuer at once: those who wait share one. */
  #fetch(source: Source, entry: Entry): Promise<Fetched> {
    entry.fetching ??= this.#fetchNow(source, entry).finally(() => (entry.fetching = undefined));
    return entry.fetching;
  }

  async #fetchNow(source: Source, entry: Entry): Promise<Fetched> {
    const turns = source.accountId === null ? this.#commonFetches : this.#accountFetches;
    entry.attemptedMs = this.#now();
    try {
      const end = await turns.begin(source.accountId ?? common);
      const startedMs = this.#now();
      try {
        const keys = await this.#read(source);
        entry.fetched = { keys, startedMs, refreshes: source.refreshes };
        this.counts.fetched++;
        return entry.fetched;
      } finally {
        end();
      }
    } catch (error) {
      this.counts.failed++;
      entry.failedMs = this.#now();
      this.#options.onFailure?.(source, error);
      throw error;
    }
  }

  /** @throws Error of the requests, or that says what is wrong with a response */
  async #read({ url }: Source): Promise<KeySet> {
    const { guard, authorities } = this.#options;
    const endMs = monotonicMs() + limits.issuerKeySetMsMax;
    const read = async (from: string): Promise<unknown> => {
      const target = new URL(from);
      // The address guard accepts http for targets that the operator allows, but a JWK set needs an authentic server.
      if (target.protocol !== 'https:') throw new WrongResponse('it must be https');
      guard.assertPossible(target);
      const bounds = { msMax: Math.max(1, endMs - monotonicMs()), bytesMax: limits.issuerKeySetBytesMax };
      return parsed(await get(guard, target, { ...bounds, ...(authorities ? { authorities } : {}) }));
    };
    const metadata = (await read(metadataUrl(url))) as Readonly<Record<string, unknown>> | null;
    if (metadata?.['issuer'] !== url) throw new WrongResponse('its metadata names another issuer');
    const keysUrl = metadata['jwks_uri'];
    if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl)) throw new WrongResponse('its metadata has no jwks_uri');
    const set = await read(keysUrl);
    try {
      return keySetOf(set);
    } catch (error) {
      throw new WrongResponse(`its JWK set ${error instanceof Error ? error.message : 'is malformed'}`);
    }
  }
}

/** OpenID Connect Discovery 1.0 section 4.1. */
const metadataUrl = (url: string): string => `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    throw new WrongResponse('its response is not JSON');
  }
}

function onlyKey(keys: KeySet, keyId: string | null): VerificationKey | undefined {
  const found = keyId === null ? keys : keys.filter(({ id }) => id === keyId);
  return found.length === 1 ? found[0] : undefined;
}

const fetchTurns = (runningMax: number, runningPerOwnerMax: number): Turns =>
  new Turns({
    runningMax,
    runningPerOwnerMax,
    waitingMax: limits.issuerKeySetsMax,
    waitingPerOwnerMax: limits.issuersMax,
    waitMsMax: limits.issuerKeySetMsMax,
  });

function removeFirst<Key>(map: Map<Key, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= limits.issuerKeySetsMax) return;
    map.delete(key);
  }
}

const unavailable = (retryAfterMs: number, cause?: unknown): DomainError =>
  new DomainError('unavailable', {
    detail: 'The public keys of the issuer cannot be fetched.',
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
    cause,
  });
