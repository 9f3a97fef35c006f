/**
 * Keys that administrators create. A management key, and a key of another person, need the administrator's password and second
 * factor in the request: a thief of a session reaches neither, not even soon after the sign-in.
 */
import { limits } from '@keyreeve/contract';
import { findCredentialsById } from '../accounts/store.ts';
import { parseAddresses } from '../api-keys/addresses.ts';
import type { ApiKeys, KeyRequest, PreparedKey } from '../api-keys/api-keys.ts';
import { describeKey } from '../api-keys/key-mail-store.ts';
import type { ApiKey } from '../api-keys/key-view.ts';
import { manageScope } from '../api-keys/scopes.ts';
import { dayMs, hourMs, toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, invalidAt, type FieldError } from '../../foundation/errors.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import { queueMailTx, type MailData, type Mailer } from '../mail/mail.ts';
import { countTx } from '../rate-limits/window-counter.ts';
import {
  redeemOwnProofTx,
  type FactorAnswer,
  type OwnerProof,
  type OwnerProofs,
  type ProvenOwner,
} from '../second-factors/owner-proofs.ts';
import {
  confirmingAbsence,
  findExisting,
  type ServiceAccountRow,
  type ServiceAccounts,
} from '../service-accounts/service-accounts.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { listMailedAdministrators } from './store.ts';

export interface KeyCreationOptions extends RecordingCore {
  readonly apiKeys: ApiKeys;
  readonly mailer: Mailer;
  readonly ownerProofs: OwnerProofs;
  readonly serviceAccounts: ServiceAccounts;
  /** Undefined for load tests: no limit in time. */
  readonly bucketHash: KeyedHash | undefined;
}

/** Password and second factor of the administrator. */
export type Proof = OwnerProof & FactorAnswer;

export interface ManagementKeyRequest {
  /** A new service account, or the id of an existing one. */
  readonly owner: { readonly name: string } | { readonly accountId: string };
  readonly nickname: string;
  readonly addresses: readonly string[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface CreatedKey {
  readonly key: ApiKey;
  readonly secret: Secret;
}

export class KeyCreation {
  readonly #options: KeyCreationOptions;

  constructor(options: KeyCreationOptions) {
    this.#options = options;
  }

  /**
   * Creates a management key, and its service account unless it exists, of which the administrator becomes the manager.
   * @throws DomainError `invalid_request`, `account_not_found`, those of `OwnerProofs.check`, `ServiceAccounts.create` and
   *   `ApiKeys.create`
   */
  async createManagementKey(
    principal: AccountPrincipal,
    request: ManagementKeyRequest,
    proof: Proof,
  ): Promise<CreatedKey & { readonly serviceAccount: ServiceAccountRow }> {
    const { db, clock, apiKeys, serviceAccounts } = this.#options;
    const { owner, nickname, addresses, expiresAt } = request;
    if (expiresAt > clock.now() + limits.managementKeyDaysMax * dayMs)
      throw invalidAt('/expiresAt', `It must be at most ${limits.managementKeyDaysMax} days from now.`);
    const ranges = toNarrowRanges(addresses);
    const account =
      'name' in owner
        ? await serviceAccounts.prepare(principal, principal.accountId, { name: owner.name })
        : { row: await findExisting(db, owner.accountId), storeTx: undefined };
    const { id, name } = account.row;
    const granted = [manageScope];
    const prepared = apiKeys.prepare(principal, id, { nickname, scopes: granted, granted, expiresAt, addresses });
    const created = this.#proven(principal, proof, async (tx, { account: { email: by }, clientIp, now }) => {
      await account.storeTx?.(tx);
      await prepared.storeTx(tx);
      const data = {
        at: toInstant(now),
        by,
        clientIp,
        owner: `${name} (${id})`,
        key: describeKey(prepared.key),
        until: toInstant(expiresAt),
        addresses: ranges,
      };
      await this.#mailAdministratorsTx(tx, principal, data);
    });
    await created.catch((error: unknown) => confirmingAbsence(db, error));
    return { key: prepared.key, secret: prepared.secret, serviceAccount: account.row };
  }

  /**
   * Creates a key of another account. A key of a person also needs the proof, and is not created without a mail to that person.
   * @throws DomainError `account_not_found`, `own_account`, `invalid_request`, `mail_not_configured`, `email_unconfirmed`, those
   *   of `OwnerProofs.check` and `ApiKeys.create`
   */
  async create(
    principal: AccountPrincipal,
    { id: accountId, kind }: { readonly id: string; readonly kind: 'person' | 'service' },
    request: KeyRequest,
    proof: Proof | undefined,
  ): Promise<CreatedKey> {
    const { apiKeys, mailer } = this.#options;
    if (accountId === principal.accountId)
      throw new DomainError('own_account', { detail: 'Create your own keys with POST /auth/api-keys.' });
    if (kind === 'service') {
      const { secret, ...key } = await apiKeys.create(principal, accountId, request);
      return { key, secret };
    }
    if (!mailer.isConfigured) throw new DomainError('mail_not_configured');
    if (!proof) throw invalidAt('/currentPassword', 'A key of a person needs the password of the administrator.');
    const prepared = apiKeys.prepare(principal, accountId, request);
    await this.#proven(principal, proof, (tx) => storeMailedTx(tx, accountId, prepared));
    return prepared;
  }

  /**
   * Makes a change in the transaction that redeems the proof. The session, the role and the password must still be those that
   * were checked.
   */
  async #proven(
    principal: AccountPrincipal,
    proof: Proof,
    changeTx: (tx: Transaction, of: Omit<ProvenOwner, 'proof'> & { readonly now: number }) => Promise<void>,
  ): Promise<void> {
    const { db, clock, mailer, ownerProofs, revocations, bucketHash } = this.#options;
    const proven = await ownerProofs.check(principal, proof, proof);
    const { account } = proven;
    const clientIp = proven.clientIp.slice(0, limits.addressCharsMax);
    const now = clock.now();
    const change = (): Promise<void> =>
      db.transaction(async (tx) => {
        await assertSessionValidTx(tx, { principal, now });
        const { codesLeft: remaining } = await redeemOwnProofTx(tx, principal, proven.proof, now);
        // The session of a concurrent change of the password stays valid.
        if ((await findCredentialsById(tx, account.id))?.sessionEpoch !== account.sessionEpoch)
          throw new DomainError('password_wrong');
        if (bucketHash) await countTx(tx, counterOf(bucketHash, principal), now);
        await changeTx(tx, { account, clientIp, now });
        if (remaining === undefined) return;
        const data = { at: toInstant(now), clientIp, remaining };
        await queueMailTx(tx, mailer.prepare({ to: account.email, template: 'recovery_code_used', data }));
      });
    await ownerProofs.redeeming(proven, () =>
      proven.proof.kind === 'recovery_code'
        ? recordingChanges(revocations, { accountId: account.id, at: now }, change)
        : change(),
    );
    mailer.sendSoon();
    await ownerProofs.succeed(proven);
  }

  async #mailAdministratorsTx(
    tx: Transaction,
    { accountId }: AccountPrincipal,
    data: MailData['management_key_created'],
  ): Promise<void> {
    const { mailer } = this.#options;
    for (const { email: to } of await listMailedAdministrators(tx, accountId))
      await queueMailTx(tx, mailer.prepare({ to, template: 'management_key_created', data }));
  }
}

/** @throws DomainError `email_unconfirmed`, `too_many_creations` when the person has got as much mail about keys as permitted */
async function storeMailedTx(tx: Transaction, accountId: string, prepared: PreparedKey): Promise<void> {
  if ((await prepared.storeTx(tx)) > 0) return;
  const isUnconfirmed = (await findCredentialsById(tx, accountId))?.emailUnconfirmedSince !== null;
  if (isUnconfirmed) throw new DomainError('email_unconfirmed');
  throw new DomainError('too_many_creations', { retryAfterSeconds: hourMs / 1000 });
}

/** Each creation sends mail to every administrator, or to a person. */
const counterOf = (bucketHash: KeyedHash, { accountId }: AccountPrincipal) => ({
  bucket: bucketHash.stored(JSON.stringify(['proven key creations', accountId])),
  max: limits.provenCreationsPerHourMax,
  windowMs: hourMs,
  policy: 'creations' as const,
});

/** @returns the ranges in canonical form @throws DomainError `invalid_request`, also for ranges with many networks */
function toNarrowRanges(addresses: readonly string[]): readonly string[] {
  const { managementKeyIpv4BitsMin: ofIpv4, managementKeyIpv6BitsMin: ofIpv6 } = limits;
  const ranges = parseAddresses(addresses).split(' ');
  const errors: FieldError[] = ranges.flatMap((range, index) => {
    const min = range.includes(':') ? ofIpv6 : ofIpv4;
    const isWide = Number(range.split('/')[1]) < min;
    return isWide ? [{ pointer: `/addresses/${index}`, detail: `Expected a range of at least /${min}.` }] : [];
  });
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
  return ranges;
}
