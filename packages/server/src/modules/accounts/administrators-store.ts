/** The set of administrators: the lock for its changes, and that one of them can sign in. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { deleteUnownedCodesTx } from '../one-time-codes/store.ts';

// The lock for changes of the set of administrators, and for changes of one account by another: two accounts that change
// each other cannot deadlock. Every installation has this row. SQLite has a single writer and needs no lock.
const lockText = `select id from installation where id = 1`;
const lockInstallation = sql<{ id: number }>('lock_administration', {
  sqlite: lockText,
  postgres: `${lockText} for update`,
});
const countAdministrators = sql<{ total: number; able: number }>(
  'count_administrators',
  `select count(*) as total, coalesce(sum(case when disabled_at is null and (password_hash <> ''
     or exists (select 1 from sso_identities i where i.account_pk = accounts.pk)) then 1 else 0 end), 0) as able
   from accounts where role = 'admin'`,
);
const selectRole = sql<{ role: string }>('select_account_role', 'select role from accounts where id = $1');

/** First in a transaction in which one account changes another, or which creates the first administrator. */
export const lockAdministrationTx = async (tx: Transaction): Promise<void> => void (await tx.get(lockInstallation));

/** Whether an administrator exists. After {@link lockAdministrationTx}, no account gets the role until the transaction ends. */
export const hasAdministrator = async (reader: Reader): Promise<boolean> =>
  ((await reader.get(countAdministrators))?.total ?? 0) > 0;

/** Voids the code for the first administrator. */
export async function prepareAdministratorTx(tx: Transaction): Promise<void> {
  await lockAdministrationTx(tx);
  await deleteUnownedCodesTx(tx, 'first_administrator');
}

/**
 * Makes a change after which no administrator may be able to sign in. An operator may apply it, an account may not.
 * @throws DomainError `last_administrator`
 */
export async function keepingAnAdministratorTx<T>(
  tx: Transaction,
  principal: Principal,
  id: string,
  apply: () => Promise<T>,
): Promise<T> {
  if ((await tx.get(selectRole, [id]))?.role !== 'admin') return apply();
  await lockAdministrationTx(tx);
  const before = (await tx.get(countAdministrators))?.able ?? 0;
  const result = await apply();
  const left = (await tx.get(countAdministrators))?.able ?? 0;
  if (principal.kind === 'account' && before > 0 && left === 0) throw new DomainError('last_administrator');
  return result;
}
