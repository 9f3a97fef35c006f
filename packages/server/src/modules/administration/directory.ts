/** Accounts and the audit log, as administrators read them. Each page reads a limited number of rows. */
import {
  limits,
  type AccountDetail,
  type AccountPage,
  type AdministeredAccount,
  type AuditPage,
} from '@keyreeve/contract';
import { emailChangesKeptSince } from '../self-service/email-change-tx.ts';
import { parseEmail } from '../accounts/email.ts';
import { listEvents, type RecordedEvent } from '../audit/audit.ts';
import { isAccountId } from '../../foundation/account-id.ts';
import { toInstant, type Clock } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import { listEmailChanges } from '../accounts/email-change-store.ts';
import { toLimits } from '../key-limits/definition.ts';
import { toQuotaUse } from '../key-limits/quota-use.ts';
import { DomainError } from '../../foundation/errors.ts';
import * as store from './store.ts';

export interface AccountSearch extends PageRequest {
  readonly query?: string;
  readonly role?: 'user' | 'admin' | undefined;
  readonly kind?: 'person' | 'service' | undefined;
  /** The id of the account that created a service account. */
  readonly creatorId?: string | undefined;
  readonly state?: 'enabled' | 'disabled' | 'unverified' | undefined;
}

export interface AuditSearch extends PageRequest {
  readonly account?: string;
  readonly action?: string;
}

export class Directory {
  readonly #db: Db;
  readonly #clock: Clock;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** @throws DomainError `account_not_found` */
  async read(id: string): Promise<AccountDetail> {
    const row = await this.confirmingAbsence(id, () => store.findDetail(this.#db, id, this.#clock.now()));
    if (!row) return this.#rejectAbsent();
    const changes = await listEmailChanges(this.#db, id, emailChangesKeptSince(this.#clock.now()));
    return {
      ...toAccount(row),
      secondFactor: row.secondFactors > 0,
      authenticator: row.authenticators > 0,
      passkeys: row.passkeys,
      apiKeyCount: row.apiKeys,
      sessionCount: row.sessions,
      limits: toLimits(row.limits),
      quotaUse: toQuotaUse(row, this.#clock),
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
    await this.#db.confirm();
    throw new DomainError('account_not_found', { detail: 'No account has this id.' });
  }

  /** Returns accounts in the order of their canonical emails. @throws DomainError `invalid_request` for an invalid cursor */
  async search({ query = '', role, kind, creatorId, state, limit, cursor }: AccountSearch): Promise<AccountPage> {
    // Other texts may contain characters that PostgreSQL rejects.
    if (creatorId !== undefined && !isAccountId(creatorId)) return { accounts: [], nextCursor: null };
    if (isAccountId(query)) return this.#searchId(query, { role, kind, creatorId, state });
    const after = cursor === undefined ? '' : fromCursor(cursor, isPosition);
    const text = parseEmail(query)?.canonicalEmail ?? query.normalize('NFC').toLowerCase();
    const filter = {
      text,
      role: role ?? '',
      kind: kind ?? '',
      creatorId: creatorId ?? '',
      state: state ?? '',
    } as const;
    const { rows, scannedUntil } = await store.findAccounts(
      this.#db,
      filter,
      after,
      sizeOf(limit),
      limits.adminRowsPerPageMax,
    );
    return { accounts: rows.map(toAccount), nextCursor: scannedUntil === undefined ? null : toCursor(scannedUntil) };
  }

  /** Returns audit events, newest first. @throws DomainError `invalid_request` for an invalid cursor */
  async audit({ account, action, limit, cursor }: AuditSearch): Promise<AuditPage> {
    const size = sizeOf(limit);
    const before = cursor === undefined ? undefined : Number(fromCursor(cursor, isEventId));
    const rowsMax = action === undefined ? size : limits.adminRowsPerPageMax;
    // Filters by action here: no index covers it, and a query for a rare action would read the whole audit log.
    const events = await listEvents(this.#db, { accountId: account, before, limit: rowsMax });
    const found = events.filter((event) => action === undefined || event.action === action).slice(0, size);
    const last = found.length === size ? found.at(-1) : events.length === rowsMax ? events.at(-1) : undefined;
    return { events: found.map(toEvent), nextCursor: last === undefined ? null : toCursor(String(last.id)) };
  }

  async #searchId(
    id: string,
    { role, kind, creatorId, state }: Pick<AccountSearch, 'role' | 'kind' | 'creatorId' | 'state'>,
  ): Promise<AccountPage> {
    const row = await store.findDetail(this.#db, id, this.#clock.now());
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
const isEventId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

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

const toEvent = ({
  id,
  at,
  actor,
  action,
  accountId,
  target,
  details,
}: RecordedEvent): AuditPage['events'][number] => ({
  id,
  at: toInstant(at),
  actor,
  action,
  accountId,
  target,
  details: details === null ? null : (JSON.parse(details) as unknown),
});
