/**
 * What a replay of the deletion journal changes in many accounts at once. The caller records the events, and ends all
 * sessions afterwards: `endAllSessionsTx`.
 */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

const remove = sql('replay_deleted_accounts', onList(`delete from accounts where id in ({ids})`));
const disable = sql(
  'replay_disabled_accounts',
  onList(`update accounts set disabled_at = $2, updated_at = $2 where disabled_at is null and id in ({ids})`),
);
const removeRoles = sql(
  'replay_removed_roles',
  onList(`update accounts set role = 'user', updated_at = $2 where id in ({ids})`),
);
const voidPasswords = sql(
  'replay_changed_passwords',
  onList(`update accounts set password_hash = '', updated_at = $2 where id in ({ids})`),
);
const unconfirmEmails = sql(
  'replay_changed_emails',
  onList(`update accounts set email_unconfirmed_since = $2, updated_at = $2 where id in ({ids})`),
);
const requireFactors = sql(
  'replay_required_second_factors',
  onList(`update accounts set requires_second_factor = 1, updated_at = $2 where id in ({ids})`),
);

/** Deletes their sessions, keys and codes too: the foreign keys cascade. */
export const deleteAccountsTx = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  void (await tx.run(remove, [JSON.stringify(ids)]));

type ChangeTx = (tx: Transaction, ids: readonly string[], now: number) => Promise<void>;
const change =
  (statement: typeof disable): ChangeTx =>
  async (tx, ids, now) =>
    void (await tx.run(statement, [JSON.stringify(ids), now]));

export const disableAccountsTx = change(disable);
export const removeAdministratorRolesTx = change(removeRoles);
export const voidPasswordsTx = change(voidPasswords);
/** Until each email address is confirmed, no password reset is sent there. */
export const unconfirmEmailsTx = change(unconfirmEmails);
export const requireSecondFactorsTx = change(requireFactors);
