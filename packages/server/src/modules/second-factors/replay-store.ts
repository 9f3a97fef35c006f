/** What a replay of the deletion journal removes of second factors and recovery codes. The caller records the events. */
import type { Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

const createdBefore = (table: string, comparison: '<' | '<='): string =>
  `delete from ${table} where exists (select 1 from {dated} join accounts a on a.id = given.id
    where a.pk = ${table}.account_pk and ${table}.created_at ${comparison} given.at)`;
const removeFactors = sql('replay_removed_second_factors', onList(createdBefore('second_factors', '<=')));
const removeTheirCodes = sql('replay_codes_of_removed_factors', onList(createdBefore('recovery_codes', '<=')));
const withApp = (condition: string): string =>
  `secret is not null and account_pk in (select a.pk from {dated} join accounts a on a.id = given.id)
    and ${condition} (select 1 from passkeys p where p.account_pk = second_factors.account_pk)`;
const keepPasskeys = sql(
  'replay_removed_authenticators_beside_passkeys',
  onList(
    `update second_factors set secret = null, last_step = 0, app_added_at = null, used_from = null
     where ${withApp('exists')}`,
  ),
);
const removeApps = sql(
  'replay_removed_authenticators',
  onList(`delete from second_factors where ${withApp('not exists')}`),
);
const removeCodesWithoutFactor = sql(
  'replay_codes_of_removed_authenticators',
  onList(`delete from recovery_codes where account_pk in (select a.pk from {dated} join accounts a on a.id = given.id)
    and not exists (select 1 from second_factors f where f.account_pk = recovery_codes.account_pk)`),
);
const removeReplacedCodes = sql('replay_replaced_recovery_codes', onList(createdBefore('recovery_codes', '<')));
const removeUsedCodes = sql('replay_used_recovery_codes', {
  sqlite: `delete from recovery_codes where code_hash in (select unhex(value) from json_each($1))`,
  postgres: `delete from recovery_codes
    where code_hash in (select decode(value, 'hex') from json_array_elements_text($1::json))`,
});

/** Of each account, the second factor and the recovery codes that it had at the time of the removal. */
export async function removeSecondFactorsTx(tx: Transaction, removals: readonly DatedId[]): Promise<void> {
  await tx.run(removeFactors, [JSON.stringify(removals)]);
  await tx.run(removeTheirCodes, [JSON.stringify(removals)]);
}

/** Of each account, the authenticator app. An account without passkeys has no second factor then. */
export async function removeAppsTx(tx: Transaction, removals: readonly DatedId[]): Promise<void> {
  await tx.run(keepPasskeys, [JSON.stringify(removals)]);
  await tx.run(removeApps, [JSON.stringify(removals)]);
  await tx.run(removeCodesWithoutFactor, [JSON.stringify(removals)]);
}

/** Of each account, the recovery codes from before the time at which they were replaced. */
export const removeReplacedCodesTx = async (tx: Transaction, replacements: readonly DatedId[]): Promise<void> =>
  void (await tx.run(removeReplacedCodes, [JSON.stringify(replacements)]));

/** @param hashes keyed hashes of recovery codes, in hexadecimal */
export const removeUsedCodesTx = async (tx: Transaction, hashes: readonly string[]): Promise<void> =>
  void (await tx.run(removeUsedCodes, [JSON.stringify(hashes)]));
