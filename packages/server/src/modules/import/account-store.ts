/** Writes a batch of imported accounts with its audit events in one transaction. */
import {
  findExistingAccounts,
  insertImportedAccountsTx,
  updateImportedAccountTx,
  type AccountUpdate,
  type ExistingAccount,
  type ImportedAccount,
} from '../accounts/import-store.ts';
import { displaceSignUpsTx } from '../accounts/sign-up-store.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventsTx, type AuditEvent } from '../audit/audit.ts';
import { findAbilityEvent } from '../audit/store.ts';
import { revocationsOf, type Revocation, type Revocations } from '../deletion-journal/revocation.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { insertImportedFactorTx } from '../second-factors/store.ts';
import type { UpdatePlan } from './account-update.ts';

export interface AccountToImport {
  readonly row: ImportedAccount;
  /** An authenticator app. Only a new account gets it. */
  readonly factor?: { readonly sealed: Uint8Array; readonly step: number } | undefined;
  /** What to do if the email address has an account already. */
  readonly planFor: (existing: ExistingAccount) => UpdatePlan;
}

/** An account after the transaction. */
export interface WrittenAccount {
  readonly id: string;
  /** Undefined for a new account. */
  readonly plan: UpdatePlan | undefined;
  /** What an update has changed. */
  readonly changes: readonly AuditEvent['action'][];
}

/**
 * Creates the accounts that do not exist. A retried transaction plans again.
 * @param isUpdate updates the others according to their plan; otherwise they stay as they are
 * @returns by canonical email
 */
export async function importAccounts(
  db: Db,
  principal: Principal,
  accounts: readonly AccountToImport[],
  { now, isUpdate }: { readonly now: number; readonly isUpdate: boolean },
): Promise<ReadonlyMap<string, WrittenAccount>> {
  return db.transaction(
    async (tx) => {
      const rows = accounts.map(({ row }) => row);
      const emails = rows.map(({ canonicalEmail }) => canonicalEmail);
      await displaceSignUpsTx(tx, principal, emails, now);
      const created = await insertImportedAccountsTx(tx, rows, now);
      const written = new Map<string, WrittenAccount>();
      const events: AuditEvent[] = [];
      for (const { row, factor } of accounts) {
        if (!created.has(row.canonicalEmail)) continue;
        if (factor) insertImportedFactorTx(tx, row.id, factor, now);
        written.set(row.canonicalEmail, { id: row.id, plan: undefined, changes: [] });
        events.push(...eventsOfCreation(principal, row, factor !== undefined, now));
      }
      const others = accounts.filter(({ row }) => !created.has(row.canonicalEmail));
      const existing =
        others.length === 0 ? new Map<string, ExistingAccount>() : await findExistingAccounts(tx, emails);
      // In the order of the emails, so that two concurrent imports cannot deadlock.
      for (const { row, planFor } of others.toSorted(byEmail)) {
        const account = existing.get(row.canonicalEmail);
        // It was deleted in the meantime.
        if (!account) continue;
        const planned = planFor(account);
        const plan = isUpdate && typeof planned === 'object' ? await updateTx(tx, account, planned, now) : planned;
        const changed = isUpdate && typeof plan === 'object' ? eventsOfUpdate(principal, account, plan, now) : [];
        written.set(row.canonicalEmail, { id: account.id, plan, changes: changed.map(({ action }) => action) });
        events.push(...changed);
      }
      await recordEventsTx(tx, events);
      return written;
    },
    { isLong: true },
  );
}

const byEmail = ({ row: one }: AccountToImport, { row: other }: AccountToImport): number =>
  one.canonicalEmail < other.canonicalEmail ? -1 : 1;

const abilityActions: readonly AuditEvent['action'][] = ['account.disabled', 'account.enabled'];

/** @returns `changed here` if a concurrent change came first */
const updateTx = async (
  tx: Transaction,
  account: ExistingAccount,
  update: AccountUpdate,
  now: number,
): Promise<UpdatePlan> => ((await updateImportedAccountTx(tx, account, update, now)) ? update : 'changed here');

/** Algorithm of a stored hash, for the audit log. */
export const schemeOf = (passwordHash: string): string =>
  passwordHash === '' ? 'without a password' : (passwordHash.split('$')[2] ?? '');

function eventsOfCreation(
  principal: Principal,
  { id, passwordHash, disabledAt }: ImportedAccount,
  hasFactor: boolean,
  at: number,
): AuditEvent[] {
  const event = { at, principal, accountId: id };
  const details = { role: 'user', imported: schemeOf(passwordHash) };
  const events: AuditEvent[] = [{ ...event, action: 'account.created', details }];
  if (hasFactor) events.push({ ...event, action: 'second_factor.added', target: id, details: { imported: 'totp' } });
  if (disabledAt !== null) events.push({ ...event, action: 'account.disabled', target: id });
  return events;
}

function eventsOfUpdate(
  principal: Principal,
  { id, disabledAt, unverifiedSince }: ExistingAccount,
  update: AccountUpdate,
  at: number,
): AuditEvent[] {
  const because = 'import';
  const event = { at, principal, accountId: id, target: id };
  const events: AuditEvent[] = [];
  if (update.passwordHash !== null)
    events.push({
      ...event,
      action: 'account.password_set',
      details: { because, scheme: schemeOf(update.passwordHash) },
    });
  if ((disabledAt === null) !== (update.disabledAt === null)) {
    const action = update.disabledAt === null ? 'account.enabled' : 'account.disabled';
    events.push({ ...event, action, details: { because } });
  }
  if ((unverifiedSince === null) !== (update.unverifiedSince === null)) {
    const action = update.unverifiedSince === null ? 'account.verified' : 'account.email_confirmation_required';
    events.push({ ...event, action, details: { because } });
  }
  return events;
}

/** Writes updates that remove rights to the deletion journal. @throws DomainError `unavailable`, although they hold */
export async function recordUpdates(
  db: Db,
  revocations: Revocations,
  written: readonly WrittenAccount[],
  at: number,
): Promise<void> {
  const entries: Revocation[] = [];
  for (const { id, changes } of written) {
    if (changes.includes('account.password_set')) entries.push({ kind: 'password_changed', id, at });
    const changesAbility = changes.some((action) => abilityActions.includes(action));
    const event = changesAbility ? await findAbilityEvent(db, id) : undefined;
    if (event) entries.push(...revocationsOf(event));
  }
  if (entries.length > 0) await revocations.record(entries);
}
