/**
 * Credentials with which `keyreeve prove-revocation` runs outside the cluster, and their canary keys. Each credential is an API
 * key of a service account of its own, without managers: its canary keys are the other keys of that account.
 *
 * Credential and canary keys are limited to one IP address that no client has, and that only instances of the installation can
 * compute. So no proxy and no service accepts them. Requests with the credential are verified with that address.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { randomBase62, randomId, type Secret } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import { system, type CanaryPrincipal, type Principal } from '../../foundation/principal.ts';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import { insertServiceAccountTx } from '../accounts/service-account-store.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { ApiKey } from '../api-keys/key-view.ts';
import { canaryScope } from '../api-keys/scopes.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { storeNewTx } from '../service-accounts/store.ts';
import { canaryAddressOf, type CanaryAddress } from './address.ts';
import { findCanaryKey, listCanaryKeys, listOldCanaryAccounts, type CanaryKeyRow } from './store.ts';

export interface CanaryKeysOptions extends Core {
  /** Of API keys. */
  readonly hash: KeyedHash;
  readonly apiKeys: ApiKeys;
  readonly accounts: AccountRevocations;
}

export interface IssuedCredential {
  readonly keyId: number;
  readonly accountId: string;
  readonly secret: Secret;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Of the accounts of credentials. */
const externalId = 'keyreeve:prove-revocation';
/** The clock of another instance may be behind. */
const keptMs = (limits.canaryCredentialSecondsMax + 3_600) * 1_000;
const accountsPerRunMax = 100;

export class CanaryKeys implements CanaryAddress {
  readonly address: string;
  readonly range: string;
  readonly #options: CanaryKeysOptions;

  constructor(options: CanaryKeysOptions) {
    this.#options = options;
    ({ address: this.address, range: this.range } = canaryAddressOf(options.hash));
  }

  /**
   * Issues a credential.
   * @param seconds its lifetime, at most `limits.canaryCredentialSecondsMax`
   * @throws DomainError `invalid_request` for another lifetime
   */
  async issue(principal: Extract<Principal, { kind: 'operator' }>, seconds: number): Promise<IssuedCredential> {
    const { db, clock, apiKeys } = this.#options;
    if (!(Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= limits.canaryCredentialSecondsMax))
      throw new DomainError('invalid_request', {
        detail: `A credential expires after 1 to ${limits.canaryCredentialSecondsMax} seconds.`,
      });
    const now = clock.now();
    const accountId = randomId('acc');
    const name = `prove-revocation ${toInstant(now)}`;
    await db.transaction(async (tx) => {
      await insertServiceAccountTx(tx, accountId, now);
      await storeNewTx(tx, { id: accountId, name, externalId, creatorId: null, createdAt: now, updatedAt: now });
      const details = { name, externalId };
      await recordAccountEventTx(tx, { at: now, principal, action: 'service_account.created', accountId, details });
    });
    const expiresAt = now + seconds * 1_000;
    const { id: keyId, secret } = await apiKeys.create(principal, accountId, {
      nickname: 'credential of prove-revocation',
      scopes: [canaryScope],
      granted: [canaryScope],
      expiresAt,
      addresses: [this.address],
    });
    return { keyId, accountId, secret, expiresAt };
  }

  /** @throws DomainError `invalid_service_key`, `key_limit_reached`, `too_many_creations` */
  async create(principal: CanaryPrincipal): Promise<ApiKey & { secret: Secret; expiresAt: number }> {
    const { clock } = this.#options;
    const now = clock.now();
    const request = {
      nickname: `canary ${randomBase62(16)}`,
      expiresAt: Math.min(now + limits.canaryKeySeconds * 1_000, principal.expiresAt),
      addresses: [this.address],
    };
    const create = () => this.#options.apiKeys.create(principal, principal.accountId, request);
    const key = await create().catch(async (error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'key_limit_reached') throw error;
      if (!(await this.#deleteExpired(principal, now))) throw error;
      return create();
    });
    return { ...key, expiresAt: request.expiresAt };
  }

  list({ accountId }: CanaryPrincipal): Promise<CanaryKeyRow[]> {
    return listCanaryKeys(this.#options.db, accountId, this.range);
  }

  /** @throws DomainError `key_not_found` also for a key that is no canary key of the credential, `invalid_service_key` */
  async delete(principal: CanaryPrincipal, id: number): Promise<void> {
    const { db, apiKeys } = this.#options;
    const { accountId } = principal;
    if (!(await findCanaryKey(db, accountId, this.range, id))) {
      await db.confirm();
      throw new DomainError('key_not_found');
    }
    await apiKeys.delete(principal, accountId, id);
  }

  /** Deletes the accounts of credentials that have expired, with their canary keys. @throws DomainError `unavailable` */
  async deleteOld(): Promise<void> {
    const { db, clock, accounts } = this.#options;
    for (const id of await listOldCanaryAccounts(db, externalId, clock.now() - keptMs, accountsPerRunMax))
      await accounts.delete(system, id);
  }

  /** A run that was interrupted leaves keys, which count towards the keys of the account. @returns whether there were any */
  async #deleteExpired(principal: CanaryPrincipal, now: number): Promise<boolean> {
    const expired = (await this.list(principal)).filter(({ expiresAt }) => expiresAt <= now);
    for (const { id } of expired) await this.#options.apiKeys.delete(principal, principal.accountId, id);
    return expired.length > 0;
  }
}
