/** Finds the API key that a secret belongs to, for an administrator who has found the secret. */
import { limits, type FoundKey } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import { shortLivedFormOf } from '../api-keys/key-format.ts';
import { toFullKey } from '../api-keys/key-view.ts';
import { findLeakTime, findSecrets } from '../api-keys/leak-store.ts';
import { recordEventTx } from '../audit/audit.ts';
import { findIdAfter, findLastSearched, searchEvents } from '../audit/search-store.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { findShortLivedOwners } from '../short-lived-secrets/store.ts';

export interface KeyFinderOptions extends Core {
  readonly hash: KeyedHash;
  readonly apiKeys: Pick<ApiKeys, 'searchOwned'>;
}

interface Found {
  readonly keyId: number;
  readonly secret: FoundKey['secret'];
}

/** A leak and its event have the same time, up to the clock difference of the instances. */
const clockDifferenceMs = limits.clockSkewSeconds * 1_000;
/** Each searches `limits.adminRowsPerPageMax` events around the time of a leak. */
const eventReadsMax = 20;

export class KeyFinder {
  readonly #options: KeyFinderOptions;

  constructor(options: KeyFinderOptions) {
    this.#options = options;
  }

  /**
   * Records `api_key.identified` before it returns, because the administrator learns the owner.
   * @param text at most `limits.importedKeyCharsMax` characters
   * @throws DomainError `key_not_found`, `invalid_access_token`
   */
  async find(principal: AccountPrincipal, text: string): Promise<FoundKey> {
    const { db, clock, apiKeys } = this.#options;
    const found = await this.#locate(text);
    if (!found) return this.#rejectAbsent('No API key has this secret.');
    const { keyId, secret } = found;
    const [key] = (await apiKeys.searchOwned({ id: String(keyId) })).keys;
    if (!key) return this.#rejectAbsent(`The secret belonged to the API key ${keyId}, which has been deleted.`);
    const at = clock.now();
    await db.transaction(async (tx) => {
      await assertSessionValidTx(tx, { principal, now: at });
      const details = { nickname: key.nickname, secret };
      const { id: accountId } = key.owner;
      await recordEventTx(tx, {
        at,
        principal,
        action: 'api_key.identified',
        accountId,
        target: String(keyId),
        details,
      });
    });
    return { ...toFullKey(key), owner: key.owner, secret };
  }

  async #locate(text: string): Promise<Found | undefined> {
    const { db, hash } = this.#options;
    const stored = hash.stored(text);
    if (shortLivedFormOf(text) === 'key') {
      const [owner] = await findShortLivedOwners(db, [stored]);
      return owner && { keyId: owner.keyId, secret: 'short_lived' };
    }
    const [held] = await findSecrets(db, [stored]);
    if (held) return { keyId: held.keyId, secret: held.secret };
    const leakedAt = await findLeakTime(db, stored);
    if (leakedAt === undefined) return undefined;
    const keyId = await this.#findLeakedKey(stored.toString('hex'), leakedAt);
    return keyId === undefined
      ? this.#rejectAbsent('The secret has leaked and ended. The audit log does not show which API key had it.')
      : { keyId, secret: 'leaked' };
  }

  /** Only the event of a leak has the hash and the key of an ended secret. No index covers it, but its time is known. */
  async #findLeakedKey(hash: string, leakedAt: number): Promise<number | undefined> {
    const { db } = this.#options;
    const filter = { action: 'api_key.leaked' };
    const searchedMax = limits.adminRowsPerPageMax;
    let before = await findIdAfter(db, leakedAt + clockDifferenceMs);
    for (let reads = 0; reads < eventReadsMax; reads++) {
      const events = await searchEvents(db, filter, { before, searchedMax, limit: searchedMax });
      const event = events.find(({ details }) => details?.includes(`"hash":"${hash}"`));
      if (event) return Number(event.target);
      const last = await findLastSearched(db, undefined, before, searchedMax);
      if (!last || last.at < leakedAt - clockDifferenceMs) return undefined;
      before = last.id;
    }
    return undefined;
  }

  /** A deletion that the read saw may not have reached the standby yet. */
  async #rejectAbsent(detail: string): Promise<never> {
    await this.#options.db.confirm();
    throw new DomainError('key_not_found', { detail });
  }
}
