/** SQL of the log of mail. */
import { limits } from '@keyreeve/contract/limits';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

/** One attempt to send a mail. */
export interface TriedMailRow {
  /** Of its job in the outbox. */
  readonly id: string;
  readonly email: string;
  readonly canonicalEmail: string;
  readonly purpose: string;
  readonly createdAt: number;
  readonly triedAt: number;
  /** Null if the mail server has accepted the mail. */
  readonly failure: string | null;
}

export interface MailRow {
  readonly id: string;
  readonly email: string;
  readonly accountId: string;
  readonly purpose: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly createdAt: number;
  readonly attemptCount: number;
  readonly triedAt: number;
  readonly deliveredAt: number | null;
  /** Null unless it is waiting. */
  readonly nextAttemptAt: number | null;
  readonly failure: string | null;
}

/** The place of a mail in the list. */
export interface MailPlace {
  readonly createdAt: number;
  readonly id: string;
}

/** Empty values select all. */
export interface MailFilter {
  /** Whose mail: of all accounts, to an email address in its canonical form, or of the account with an id. */
  readonly by: 'all' | 'email' | 'account';
  readonly of: string;
  readonly purpose: string;
  readonly state: MailRow['state'] | '';
}

export interface MailPart {
  /** Only mails after this place in the list. */
  readonly after: MailPlace;
  /** How many mails are searched. */
  readonly searchedMax: number;
  /** How many mails are returned. */
  readonly limit: number;
}

// The account that has the email address, had it, or has requested it. The later ones are read only without an earlier one.
const owner = `coalesce((select pk from accounts where email_key = $3),
  (select account_pk from email_changes where email_key = $3 order by changed_at desc limit 1),
  (select account_pk from one_time_codes where email_key = $3 and account_pk is not null limit 1))`;
const inserted = `insert into mail_log
  (id, account_pk, email, email_key, purpose, created_at, tried_at, attempt_count, delivered_at, failure)`;
const values = `$1, pk, $2, $3, $4, $5, $6, 1, case when $7 = '' then $6 end, nullif($7, '')`;
const onConflict = `on conflict (id) do update set tried_at = excluded.tried_at, failure = excluded.failure,
  attempt_count = mail_log.attempt_count + 1, delivered_at = coalesce(mail_log.delivered_at, excluded.delivered_at)`;
// The lock lets a concurrent deletion of the account commit first: then, nothing is inserted.
const save = sql('save_mail', {
  sqlite: `${inserted} select ${values} from accounts where pk = ${owner} ${onConflict}`,
  postgres: `with owner as materialized (select pk from accounts where pk = ${owner} for key share)
    ${inserted} select ${values.replaceAll(/\$([56])/g, 'cast($$$1 as bigint)')} from owner ${onConflict}`,
});

const state = `case when delivered_at is not null then 'delivered' when due_at is not null then 'waiting' else 'failed' end`;
const part = (condition: string): string => `from mail_log where ${condition} (created_at, id) < ($1, $2)
  order by created_at desc, id desc`;
const listed = (condition: string): string => `select m.id, m.email, a.id as "accountId", m.purpose, ${state} as state,
     m.created_at as "createdAt", m.attempt_count as "attemptCount", m.tried_at as "triedAt", m.delivered_at as "deliveredAt",
     case when m.delivered_at is null then m.due_at end as "nextAttemptAt", m.failure
   from (select part.*, (select due_at from outbox where outbox.id = part.id) as due_at
     from (select * ${part(condition)} limit $3) part) m join accounts a on a.pk = m.account_pk
   where ($4 = '' or m.purpose = $4) and ($5 = '' or ${state} = $5) order by m.created_at desc, m.id desc limit $6`;
const bound = (condition: string): string =>
  `select created_at as "createdAt", id ${part(condition)} limit 1 offset $3`;
// Not to an email address that it has only requested: whether the log has such mail depends on whether another account has the address.
const ofAccount = (id: string): string => `account_pk = (select pk from accounts where id = ${id})
  and email_key in (select email_key from accounts where id = ${id} union all
    select c.email_key from email_changes c join accounts o on o.pk = c.account_pk where o.id = ${id}) and`;
const list = sql<MailRow>('list_mail', listed(''));
const listTo = sql<MailRow>('list_mail_to_email', listed('email_key = $7 and'));
const listOf = sql<MailRow>('list_mail_of_account', listed(ofAccount('$7')));
const lists = { all: list, email: listTo, account: listOf };
const last = sql<MailPlace>('last_listed_mail', bound(''));
const lastTo = sql<MailPlace>('last_listed_mail_to_email', bound('email_key = $4 and'));
const lastOf = sql<MailPlace>('last_listed_mail_of_account', bound(ofAccount('$4')));
const bounds = { all: last, email: lastTo, account: lastOf };

const deleteOld = sql(
  'delete_old_mail',
  `delete from mail_log where id in (select id from mail_log where created_at < $1 order by created_at limit $2)`,
);
const deleteExcessOfAccount = sql(
  'delete_excess_mail_of_account',
  `delete from mail_log where id in (
     select id from mail_log where account_pk = (select account_pk from mail_log where id = $1)
     order by created_at desc, id desc limit 10 offset ${limits.mailLogPerAccountMax})`,
);
const countExcess = sql<{ count: number }>(
  'count_excess_mail',
  'select count(*) as count from (select 1 from mail_log limit $1 offset $2) excess',
);
// Without an account of their own, many strangers could otherwise push out the mail of accounts. In the order of an index.
const deleteOfSignUps = sql(
  'delete_mail_of_sign_ups',
  `delete from mail_log where id in (
     select m.id from accounts a join mail_log m on m.account_pk = a.pk where a.signed_up_at is not null
     order by a.signed_up_at limit $1)`,
);
const deleteOldest = sql(
  'delete_oldest_mail',
  'delete from mail_log where id in (select id from mail_log order by created_at, id limit $1)',
);

/** Records an attempt, unless no account has, had or has requested the email address. Deletes what the account has beyond its bound. */
export async function saveMailTx(tx: Transaction, mail: TriedMailRow): Promise<void> {
  const { id, email, canonicalEmail, purpose, createdAt, triedAt, failure } = mail;
  if ((await tx.run(save, [id, email, canonicalEmail, purpose, createdAt, triedAt, failure ?? ''])) > 0)
    await tx.run(deleteExcessOfAccount, [id]);
}

/** The most recent first. */
export function listMail(
  reader: Reader,
  { by, of, purpose, state: wanted }: MailFilter,
  { after, searchedMax, limit }: MailPart,
): Promise<MailRow[]> {
  const given = [after.createdAt, after.id, searchedMax, purpose, wanted, limit];
  return reader.all(lists[by], by === 'all' ? given : [...given, of]);
}

/** @returns the last mail that {@link listMail} searches; undefined if it searches all remaining ones */
export function findLastSearched(
  reader: Reader,
  { by, of }: MailFilter,
  { after, searchedMax }: MailPart,
): Promise<MailPlace | undefined> {
  const given = [after.createdAt, after.id, searchedMax - 1];
  return reader.get(bounds[by], by === 'all' ? given : [...given, of]);
}

/** Deletes mails that were created before a time, in milliseconds. @returns the number of deleted rows, at most `rowsMax` */
export const deleteOldMail = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteOld, [before, rowsMax]));

/** Deletes mails beyond `keptMax`: first those of unverified sign-ups, then the oldest. @returns their number, at most `rowsMax` */
export const deleteExcessMail = (db: Db, keptMax: number, rowsMax: number): Promise<number> =>
  db.transaction(async (tx) => {
    const excess = (await tx.get(countExcess, [rowsMax, keptMax]))?.count ?? 0;
    const ofSignUps = excess === 0 ? 0 : await tx.run(deleteOfSignUps, [excess]);
    if (ofSignUps < excess) await tx.run(deleteOldest, [excess - ofSignUps]);
    return excess;
  });
