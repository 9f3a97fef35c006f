/** Rows of passkeys and of challenges that were used. An account with passkeys has a second factor (`second-factors/`). */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { withUse } from '../../foundation/database/used-from.ts';
import type { Role } from '../accounts/accounts.ts';
import type { UsedChallenge } from './challenge.ts';

export interface PasskeyRow {
  readonly id: string;
  readonly credentialId: Uint8Array;
  readonly rpId: string;
  readonly transports: string;
  readonly backedUp: number;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** Client IP ranges, separated by spaces. */
  readonly usedFrom: string | null;
}

/** A passkey with what its verification needs, and its account. */
export interface CredentialRow {
  readonly id: string;
  readonly name: string;
  readonly publicKey: Uint8Array;
  readonly accountId: string;
  readonly sessionEpoch: number;
  readonly role: Role;
  readonly isUsable: number;
}

export interface NewPasskey {
  readonly id: string;
  readonly accountId: string;
  readonly credentialId: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly rpId: string;
  readonly transports: string;
  readonly isBackedUp: boolean;
  readonly name: string;
  readonly now: number;
}

const ofAccount = 'account_pk = (select pk from accounts where id = $1)';
const list = sql<PasskeyRow>(
  'list_passkeys',
  `select id, credential_id as "credentialId", rp_id as "rpId", transports, backed_up as "backedUp", name,
     created_at as "createdAt", last_used_at as "lastUsedAt", used_from as "usedFrom"
   from passkeys where ${ofAccount} order by created_at, id`,
);
const count = sql<{ count: number }>('count_passkeys', `select count(*) as count from passkeys where ${ofAccount}`);
// An account whose password has been voided must set a new one first: a thief may have added the passkey.
const selectCredential = sql<CredentialRow>(
  'select_passkey_by_credential',
  `select p.id, p.name, p.public_key as "publicKey", a.id as "accountId", a.session_epoch as "sessionEpoch", a.role,
     case when a.disabled_at is null and a.password_hash <> '' then 1 else 0 end as "isUsable"
   from passkeys p join accounts a on a.pk = p.account_pk where p.credential_id = $1 and p.rp_id = $2`,
);
const insert = sql(
  'insert_passkey',
  `insert into passkeys (id, account_pk, credential_id, public_key, counter, rp_id, transports, backed_up, name, created_at)
   select $2, pk, $3, $4, $5, $6, $7, $8, $9, $10 from accounts where id = $1
   on conflict (credential_id) do nothing`,
);
const rename = sql('rename_passkey', `update passkeys set name = $3 where ${ofAccount} and id = $2`);
const remove = sql<{ name: string }>(
  'delete_passkey',
  `delete from passkeys where ${ofAccount} and id = $2 returning name`,
);
const removeSince = sql<{ id: string }>(
  'delete_passkeys_since',
  `delete from passkeys where ${ofAccount} and created_at >= $2 returning id`,
);
// A counter that does not increase shows a copy of the private key (WebAuthn Level 3, section 6.1.1). Authenticators without
// a counter always send 0. One statement decides: of several concurrent uses, each has a higher counter than the one before.
const recordUse = sql(
  'use_passkey',
  `update passkeys set counter = $2, backed_up = $3, last_used_at = $4, used_from = ${withUse('used_from', 'cast($5 as text)')}
   where id = $1 and ((counter = 0 and $2 = 0) or counter < $2)`,
);
const selectExists = sql<{ found: number }>('passkey_exists', 'select 1 as found from passkeys where id = $1');
const insertUsed = sql(
  'insert_used_challenge',
  'insert into used_challenges (mac, expires_at) values ($1, $2) on conflict (mac) do nothing',
);
const deleteUsed = sql(
  'delete_used_challenges',
  `delete from used_challenges where mac in (select mac from used_challenges where expires_at <= $1 limit $2)`,
);
const deleteAllUsed = sql('delete_all_used_challenges', 'delete from used_challenges');
const countOfOther = sql<{ count: number }>(
  'count_passkeys_of_other_rp_ids',
  'select count(*) as count from passkeys where rp_id <> $1',
);

/** Oldest first. */
export const listPasskeys = (db: Pick<Db, 'all'> | Transaction, accountId: string): Promise<PasskeyRow[]> =>
  db.all(list, [accountId]);

export const countPasskeysTx = async (tx: Pick<Transaction, 'get'>, accountId: string): Promise<number> =>
  (await tx.get(count, [accountId]))?.count ?? 0;

export const findCredential = (db: Db, credentialId: Uint8Array, rpId: string): Promise<CredentialRow | undefined> =>
  db.get(selectCredential, [credentialId, rpId]);

/** The account has a second factor in force. @returns false when the credential exists, also in another account */
export const insertPasskeyTx = async (tx: Transaction, passkey: NewPasskey): Promise<boolean> => {
  const { accountId, id, credentialId, publicKey, counter, rpId, transports, isBackedUp, name, now } = passkey;
  const values = [accountId, id, credentialId, publicKey, counter, rpId, transports, isBackedUp ? 1 : 0, name, now];
  return (await tx.run(insert, values)) === 1;
};

/** @returns whether the account has the passkey */
export const renamePasskeyTx = async (tx: Transaction, accountId: string, id: string, name: string): Promise<boolean> =>
  (await tx.run(rename, [accountId, id, name])) === 1;

/** @returns the name of the passkey; undefined when the account does not have it */
export const removePasskeyTx = async (tx: Transaction, accountId: string, id: string): Promise<string | undefined> =>
  (await tx.get(remove, [accountId, id]))?.name;

/** @param since 0 for all passkeys of the account @returns their ids */
export const removePasskeysSinceTx = async (tx: Transaction, accountId: string, since: number): Promise<string[]> =>
  (await tx.all(removeSince, [accountId, since])).map(({ id }) => id);

export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
  /** Milliseconds. */
  readonly now: number;
  /** The client IP range; null if it is not known. */
  readonly from: string | null;
}

/** @returns `regressed` when the counter did not increase; `removed` when the passkey has been removed since */
export async function recordUseTx(
  tx: Transaction,
  id: string,
  { counter, isBackedUp, now, from }: PasskeyUse,
): Promise<'recorded' | 'regressed' | 'removed'> {
  if ((await tx.run(recordUse, [id, counter, isBackedUp ? 1 : 0, now, from])) === 1) return 'recorded';
  return (await tx.get(selectExists, [id])) ? 'regressed' : 'removed';
}

/** @returns false when the challenge was used before */
export const useChallengeTx = async (tx: Transaction, { mac, expiresAt }: UsedChallenge): Promise<boolean> =>
  (await tx.run(insertUsed, [mac, expiresAt])) === 1;

/** After a rotation of the root key: no challenge from before it is valid. */
export const deleteAllUsedChallengesTx = async (tx: Transaction): Promise<void> => void (await tx.run(deleteAllUsed));

/** @returns the number of deleted rows */
export const deleteUsedChallenges = (db: Db, expiredBefore: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteUsed, [expiredBefore, rowsMax]));

/** The number of passkeys that browsers do not offer, because they were created for another rp id. */
export const countPasskeysOfOtherRpIds = async (db: Pick<Db, 'get'>, rpId: string): Promise<number> =>
  (await db.get(countOfOther, [rpId]))?.count ?? 0;
