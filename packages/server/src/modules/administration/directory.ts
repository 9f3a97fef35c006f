/** Accounts, as administrators read them. Each page reads a limited number of rows. */
import { limits, type AccountDetail, type AccountPage, type AdministeredAccount } from '@keyreeve/contract';
import { emailChangesKeptSince } from '../self-service/email-change-tx.ts';
import { parseEmail } from '../accounts/email.ts';
import { isAccountId } from '../../foundation/account-id.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, wantsTotal, type PageRequest } from '../../foundation/cursor.ts';
import { toTotal } from '../../foundation/database/totals.ts';
import { findAccount } from '../accounts/store.ts';
import { listEmailChanges } from '../accounts/email-change-store.ts';
import { toLimits } from '../key-limits/definition.ts';
import { toQuotaUse } from '../key-limits/quota-use.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { accountIdOf } from './account-filters.ts';
import { AuditLog } from './audit-log.ts';
import * as store from './store.ts';

export interface AccountSearch extends PageRequest {
  readonly query?: string;
  /** Only the account with this email, without the other filters. */
  readonly email?: string;
  readonly role?: 'user' | 'admin' | undefined;
  readonly kind?: 'person' | 'service' | undefined;
  /** The id or email address of the account that created a service account. */
  readonly creatorId?: string | undefined;
  /** Separated by commas; without other members. */
  readonly ids?: string;
  readonly state?: 'enabled' | 'disabled' | 'unverified' | undefined;
}

export class Directory {
  readonly #core: Core;
  readonly auditLog: AuditLog;

  constructor(core: Core) {
    this.#core = core;
    this.auditLog = new AuditLog(core);
  }

  /** @throws DomainError `account_not_found` */
  async read(id: string): Promise<AccountDetail> {
    const row = await this.confirmingAbsence(id, () => store.findDetail(this.#core.db, id, this.#core.clock.now()));
    if (!row) return this.#rejectAbsent();
    const changes = await listEmailChanges(this.#core.db, id, emailChangesKeptSince(this.#core.clock.now()));
    return {
      ...toAccount(row),
      secondFactor: row.secondFactors > 0,
      authenticator: row.authenticators > 0,
      passkeys: row.passkeys,
      apiKeyCount: row.apiKeys,
      sessionCount: row.sessions,
      limits: toLimits(row.limits),
      quotaUse: toQuotaUse(row, this.#core.clock),
      entitlements: row.entitlements?.split(' ') ?? [],
      emailChanges: changes.map(({ email, changedAt }) => ({ previousEmail: email, changedAt: toInstant(changedAt) })),
    };
  }

  /**
   * Runs a change. @returns the changed account
   * @throws DomainError `account_not_found`, and the errors of `change`
   */
  async change(id: string, change: () => Promise<unknown>): Promise<AccountDetail> {
    await this.confirmingAbsence(id, change);
    return this.read(id);
  }

  /**
   * Confirms `account_not_found` before it is returned: the deletion may not have reached the standby yet, and a client
   * that retries the deletion takes this response as its success.
   * @throws DomainError `account_not_found`, and the errors of `operation`
   */
  async confirmingAbsence<T>(id: string, operation: () => Promise<T>): Promise<T> {
    // Other texts may contain characters that PostgreSQL rejects.
    if (!isAccountId(id)) return this.#rejectAbsent();
    try {
      return await operation();
    } catch (error) {
      if (error instanceof DomainError && error.code === 'account_not_found') return this.#rejectAbsent();
      throw error;
    }
  }

  async #rejectAbsent(): Promise<never> {
    await this.#core.db.confirm();
    throw new DomainError('account_not_found', { detail: 'No account has this id.' });
  }

  /**
   * Returns accounts in the order of their canonical emails.
   * @throws DomainError `invalid_request` for an invalid cursor, `ids` beside other members, or a total of another page than the first
   */
  async search({ ids, email, ...search }: AccountSearch): Promise<AccountPage> {
    const hasTotal = wantsTotal(search);
    if (ids !== undefined) return this.#listIds(ids, { ...search, ...(email !== undefined && { email }) });
    if (email !== undefined) return this.#searchEmail(email);
    const { query = '', role, kind, state, limit, cursor } = search;
    const creatorId = search.creatorId === undefined ? undefined : await this.idOf(search.creatorId);
    if (isAccountId(query)) {
      const found = await this.#searchId(query, { role, kind, creatorId, state });
      return { ...found, ...(hasTotal && { total: toTotal(found.accounts.length) }) };
    }
    const after = cursor === undefined ? '' : fromCursor(cursor, isPosition);
    const text = parseEmail(query)?.canonicalEmail ?? query.normalize('NFC').toLowerCase();
    const filter = {
      text,
      role: role ?? '',
      kind: kind ?? '',
      creatorId: creatorId ?? '',
      state: state ?? '',
    } as const;
    const page = { after, limit: sizeOf(limit), rowsMax: limits.adminRowsPerPageMax };
    const { rows, scannedUntil } = await store.findAccounts(this.#core.db, filter, page);
    const nextCursor = scannedUntil === undefined ? null : toCursor(scannedUntil);
    const total = hasTotal ? { total: await store.countAccounts(this.#core.db, filter) } : {};
    return { accounts: rows.map(toAccount), nextCursor, ...total };
  }

  /** @throws DomainError `invalid_request` */
  async #listIds(ids: string, others: Omit<AccountSearch, 'ids'>): Promise<AccountPage> {
    if (Object.values(others).some((value) => value !== undefined))
      throw invalidAt('/ids', 'Do not send other parameters with it.');
    const rows = await store.listAccountsById(this.#core.db, ids.split(','));
    return { accounts: rows.map(toAccount), nextCursor: null };
  }

  /** @returns the id of the account with the email address; any other text, and that of no account, itself */
  idOf(text: string): Promise<string> {
    return accountIdOf(this.#core.db, text);
  }

  async #searchEmail(text: string): Promise<AccountPage> {
    const canonicalEmail = parseEmail(text)?.canonicalEmail;
    const account = canonicalEmail === undefined ? undefined : await findAccount(this.#core.db, '', canonicalEmail);
    return account ? this.#searchId(account.id, {}) : { accounts: [], nextCursor: null };
  }

  async #searchId(
    id: string,
    { role, kind, creatorId, state }: Pick<AccountSearch, 'role' | 'kind' | 'creatorId' | 'state'>,
  ): Promise<AccountPage> {
    const row = await store.findDetail(this.#core.db, id, this.#core.clock.now());
    const isOther =
      (role !== undefined && row?.role !== role) ||
      (kind !== undefined && row?.kind !== kind) ||
      (creatorId !== undefined && row?.creatorId !== creatorId);
    if (!row || isOther) return { accounts: [], nextCursor: null };
    const isInState = {
      enabled: row.disabledAt === null,
      disabled: row.disabledAt !== null,
      unverified: row.unverifiedSince !== null,
    };
    return { accounts: state === undefined || isInState[state] ? [toAccount(row)] : [], nextCursor: null };
  }
}

/** A service account has its id there. */
const isPosition = (text: string): boolean => isAccountId(text) || parseEmail(text)?.canonicalEmail === text;
const toAccount = (row: store.AdministeredRow): AdministeredAccount => ({
  id: row.id,
  kind: row.kind,
  email: row.kind === 'service' ? null : row.email,
  role: row.role,
  verified: row.unverifiedSince === null,
  hasPassword: row.hasPassword > 0,
  requiresSecondFactor: row.requiresSecondFactor > 0,
  createdAt: toInstant(row.createdAt),
  updatedAt: toInstant(row.updatedAt),
  disabledAt: row.disabledAt === null ? null : toInstant(row.disabledAt),
  name: row.name,
  externalId: row.externalId,
  creatorId: row.creatorId,
});
