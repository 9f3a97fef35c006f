/** Service accounts: a person, or a backend with a management key, creates, reads, changes and deletes them. */
import { limits, type ListTotal } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { fromCursor, sizeOf, toCursor, wantsTotal, type PageRequest } from '../../foundation/cursor.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { toTotal } from '../../foundation/database/totals.ts';
import { DomainError } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import { isPrintable } from '../../foundation/printable.ts';
import type { AccountPrincipal, Act, KeyPrincipal, Principal } from '../../foundation/principal.ts';
import { isAccountId } from '../../foundation/account-id.ts';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import { findLimitsTx } from '../accounts/limits-store.ts';
import { insertServiceAccountTx } from '../accounts/service-account-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import { isCounted } from '../rate-limits/key-change-limits.ts';
import { assertCreationAllowed, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { assertCredentialValidTx, assertMayActFor, assertMayActForTx } from './acting.ts';
import { lockAccountsTx, lockAccountTx } from './acting-store.ts';
import { countChangeTx, countNewTx } from './counts.ts';
import * as store from './store.ts';
import type { ServiceAccountRow } from './store.ts';

export type { ServiceAccountRow } from './store.ts';

export interface ServiceAccountsOptions extends Core {
  /** Deletes accounts, and repeats a deletion of unknown outcome. */
  readonly accounts: AccountRevocations;
  /** Undefined for load tests. */
  readonly creationLimits: KeyCreationLimits | undefined;
}

export interface ServiceAccountRequest {
  readonly name: string;
  readonly externalId?: string | null;
}

export interface ServiceAccountPageRequest extends PageRequest {
  readonly externalId?: string;
}

export class ServiceAccounts {
  readonly #options: ServiceAccountsOptions;

  constructor(options: ServiceAccountsOptions) {
    this.#options = options;
  }

  /**
   * @param creatorId becomes the creator and the first manager: the account of the principal, or any account for an operator
   * @throws DomainError `nickname_invalid`, `invalid_request`, `external_id_taken`, `name_taken`, `email_unverified`,
   *   `account_limited`, `manager_not_eligible`, `service_account_limit_reached`, `too_many_creations`, `invalid_access_token`,
   *   `invalid_management_key`
   */
  async create(principal: Principal, creatorId: string, request: ServiceAccountRequest): Promise<ServiceAccountRow> {
    const { row, storeTx } = await this.prepare(principal, creatorId, request);
    await this.#options.db.transaction(storeTx);
    return row;
  }

  /**
   * {@link create} in a transaction of the caller, which also makes other changes: rejects early by reads, then stores.
   * @throws DomainError as `create`; `storeTx` too
   */
  async prepare(
    principal: Principal,
    creatorId: string,
    request: ServiceAccountRequest,
  ): Promise<{ readonly row: ServiceAccountRow; readonly storeTx: (tx: Transaction) => Promise<void> }> {
    const { db, clock, creationLimits } = this.#options;
    const now = clock.now();
    const row = {
      id: randomId('acc'),
      name: validateNickname(request.name, '/name'),
      externalId: checkedExternalId(request.externalId ?? null),
      creatorId,
      createdAt: now,
      updatedAt: now,
    };
    // A rejected creation does not occupy the writer.
    if (creationLimits && isCounted(principal)) await assertCreationAllowed(db, creationLimits, principal, now);
    assertFree(await store.findTaken(db, creatorId, row, ''));
    return { row, storeTx: (tx) => this.#storeNewTx(tx, { principal, now }, creatorId, row) };
  }

  async #storeNewTx(tx: Transaction, act: Act, creatorId: string, row: ServiceAccountRow): Promise<void> {
    const { principal, now } = act;
    // The creator's service accounts are counted, so it creates one after another.
    await allInOrder([lockAccountTx(tx, creatorId), assertCredentialValidTx(tx, principal, now)]);
    if (!(await store.isEligibleTx(tx, creatorId)))
      throw new DomainError(principal.kind === 'operator' ? 'manager_not_eligible' : 'email_unverified');
    // An administrator limited what the keys of the person can use. A backend limits each tenant instead.
    if (principal.kind === 'account' && (await findLimitsTx(tx, creatorId)) !== null)
      throw new DomainError('account_limited');
    await countNewTx(tx, act, creatorId, this.#options.creationLimits);
    await insertServiceAccountTx(tx, row.id, now);
    if (!(await store.storeNewTx(tx, row))) assertFree(await store.findTaken(tx, creatorId, row, ''));
    await store.addManagerTx(tx, row.id, creatorId, now);
    const { name, externalId } = row;
    const event = { at: now, principal, action: 'service_account.created', accountId: row.id } as const;
    await recordAccountEventTx(tx, { ...event, details: { name, externalId, manager: creatorId } });
  }

  /**
   * Creates a service account without a creator and managers, in a transaction of the caller: administrators and operators manage
   * it, and can add managers.
   * @throws DomainError `nickname_invalid`
   */
  async createUnmanagedTx(tx: Transaction, { principal, now }: Act, id: string, givenName: string): Promise<void> {
    const name = validateNickname(givenName, '/name');
    await insertServiceAccountTx(tx, id, now);
    const row = { id, name, externalId: null, creatorId: null, createdAt: now, updatedAt: now };
    await store.storeNewTx(tx, row);
    const event = { at: now, principal, action: 'service_account.created', accountId: id } as const;
    await recordAccountEventTx(tx, { ...event, details: { name, externalId: null, manager: null } });
  }

  /**
   * One page of the service accounts that the principal manages, in the order in which it became a manager. With an external
   * id, only one that its own account has created.
   * @throws DomainError `invalid_request` for a cursor that is not from this list, a bad external id, or a total of another page
   *   than the first
   */
  async page(
    { accountId }: AccountPrincipal | KeyPrincipal,
    { externalId, ...request }: ServiceAccountPageRequest,
  ): Promise<{ serviceAccounts: ServiceAccountRow[]; nextCursor: string | null; total?: ListTotal }> {
    const { db } = this.#options;
    const hasTotal = wantsTotal(request);
    if (externalId !== undefined) checkedExternalId(externalId);
    const { limit, cursor } = request;
    const after = cursor === undefined ? beforeAll : positionOf(fromCursor(cursor, isPosition));
    const size = sizeOf(limit);
    const managed = { managerId: accountId, externalId };
    // One more than the page, to learn whether there is a next page.
    const rows = await store.pageManagedBy(db, managed, after, size + 1);
    const shown = rows.slice(0, size);
    const last = rows.length > size ? shown.at(-1) : undefined;
    const nextCursor = last ? toCursor(`${last.addedAt}.${last.id}`) : null;
    const total = hasTotal ? { total: toTotal(await store.countManagedBy(db, managed)) } : {};
    return { serviceAccounts: shown, nextCursor, ...total };
  }

  /** @throws DomainError `account_not_found` */
  async find(principal: Principal, id: string): Promise<ServiceAccountRow> {
    const { db } = this.#options;
    await assertMayActFor(db, principal, id);
    return findExisting(db, id);
  }

  /**
   * @param change absent members keep their values; null removes the external id
   * @throws DomainError `account_not_found`, `creator_required`, `nickname_invalid`, `invalid_request`, `external_id_taken`,
   *   `name_taken`, `too_many_changes`, `invalid_access_token`, `invalid_management_key`
   */
  async change(principal: Principal, id: string, change: Partial<ServiceAccountRequest>): Promise<ServiceAccountRow> {
    const { db, clock, creationLimits } = this.#options;
    const { creatorId } = await this.find(principal, id);
    assertMayChange(principal, creatorId);
    const members = {
      ...(change.name === undefined ? {} : { name: validateNickname(change.name, '/name') }),
      ...(change.externalId === undefined ? {} : { externalId: checkedExternalId(change.externalId) }),
    };
    const now = clock.now();
    const changed = db.transaction(async (tx) => {
      // Another service account of the creator may get the same name meanwhile.
      const first = creatorId && lockAccountsTx(tx, [creatorId, id]);
      await allInOrder([first, assertMayActForTx(tx, principal, id, now)]);
      const before = await store.findServiceAccount(tx, id);
      if (!before) throw notFound();
      assertMayChange(principal, before.creatorId);
      const after = { ...before, ...members, updatedAt: Math.max(now, before.updatedAt + 1) };
      if (after.name === before.name && after.externalId === before.externalId) return before;
      await countChangeTx(tx, principal, creationLimits, now);
      if (creatorId !== null) {
        const { names, externalIds } = await store.findTaken(tx, creatorId, after, id);
        assertFree({ externalIds, names: after.name === before.name ? 0 : names });
      }
      await store.storeChangeTx(tx, after);
      const event = { at: after.updatedAt, principal, action: 'service_account.updated', accountId: id } as const;
      await recordAccountEventTx(tx, { ...event, details: members });
      return after;
    });
    return changed.catch((error: unknown) => confirmingAbsence(db, error));
  }

  /**
   * Deletes the service account with its keys. Resolves when the deletion is durable and recorded.
   * @throws DomainError `account_not_found`, `invalid_access_token`, `invalid_management_key`, `unavailable`
   */
  async delete(principal: Principal, id: string): Promise<void> {
    const { db, accounts } = this.#options;
    await this.find(principal, id);
    const existed = await accounts
      .delete(principal, id, (tx, by) => assertMayActForTx(tx, by.principal, id, by.now))
      .catch((error: unknown) => confirmingAbsence(db, error));
    if (!existed) await confirmingAbsence(db, notFound());
  }
}

/** @throws DomainError `account_not_found` */
export async function findExisting(db: Db, id: string): Promise<ServiceAccountRow> {
  const row = isAccountId(id) ? await store.findServiceAccount(db, id) : undefined;
  return row ?? confirmingAbsence(db, notFound());
}

/** The deletion, or the removal of the manager, may not have reached the standby yet. @throws `error` */
export async function confirmingAbsence(db: Db, error: unknown): Promise<never> {
  if (error instanceof DomainError && error.code === 'account_not_found') await db.confirm();
  throw error;
}

export const notFound = (): DomainError =>
  new DomainError('account_not_found', { detail: 'No service account has this id.' });

/** @throws DomainError `invalid_request` */
function checkedExternalId(text: string | null): string | null {
  if (text === null) return null;
  const characters = [...text].length;
  if (characters >= 1 && characters <= limits.externalIdCharsMax && isPrintable(text)) return text;
  const detail = `Expected 1 to ${limits.externalIdCharsMax} printable characters.`;
  throw new DomainError('invalid_request', {
    detail,
    errors: [{ pointer: '/externalId', detail, code: 'not_printable', limit: limits.externalIdCharsMax }],
  });
}

/**
 * Names and external ids are unique for each creator. Otherwise a manager that it added could occupy and test its names.
 * @throws DomainError `creator_required`
 */
function assertMayChange(principal: Principal, creatorId: string | null): void {
  if (creatorId === null || !isCounted(principal)) return;
  if (principal.kind === 'account' && principal.actsAs === 'administrator') return;
  if (principal.accountId !== creatorId) throw new DomainError('creator_required');
}

/** A client that repeats a creation finds its result by the external id. @throws DomainError `external_id_taken`, `name_taken` */
function assertFree({ externalIds, names }: store.Taken): void {
  if (externalIds > 0) throw new DomainError('external_id_taken');
  if (names > 0) throw new DomainError('name_taken');
}

const beforeAll = { addedAt: -1, id: '' } as const;

const isPosition = (text: string): boolean => {
  const [addedAt = '', id = ''] = text.split('.');
  return /^(?:0|[1-9]\d{0,15})$/.test(addedAt) && Number.isSafeInteger(Number(addedAt)) && isAccountId(id);
};

function positionOf(text: string): { addedAt: number; id: string } {
  const [addedAt, id = ''] = text.split('.');
  return { addedAt: Number(addedAt), id };
}
