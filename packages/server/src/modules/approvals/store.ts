/**
 * Rows of requests that wait for an approval. What is specific to the kind of a request is one JSON value.
 *
 * Transactions lock in one order, against deadlocks: account, program, request, key.
 */
import { limits, type ApprovalState } from '@keyreeve/contract';
import { aheadMsMax, type Clock } from '../../foundation/clock.ts';
import { aheadTimes, deleteAheadText } from '../../foundation/database/ahead.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';

/** What the program requests; of an approved request: what is approved. */
export interface DeviceRight {
  readonly scopes: readonly string[];
  readonly lifetimeSeconds: number;
}

/** The session that approved the request. The right ends with it. */
export interface ApprovedBy {
  readonly sessionId: string;
  /** Id of the key that signed its access token; absent for the console. */
  readonly kid?: string;
}

export interface DeviceData {
  readonly requested: DeviceRight;
  readonly approved?: DeviceRight & {
    readonly nickname: string;
    readonly by: ApprovedBy;
    /** The time of the last change of the program. The right ends with the next change. */
    readonly programUpdatedAt: number;
  };
}

export interface RequestRow {
  readonly id: string;
  readonly kind: 'device';
  readonly programId: string;
  readonly programName: string;
  readonly programUpdatedAt: number;
  readonly clientRange: string;
  readonly state: ApprovalState;
  readonly data: DeviceData;
  /** Who decided. */
  readonly accountId: string | null;
  readonly keyId: number | null;
  /** When the key was created. */
  readonly usedAt: number | null;
  /** When its secret was issued last: the time of the last change of the key. */
  readonly issuedAt: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

type StoredRow = Omit<RequestRow, 'data'> & { readonly data: string };

export interface NewRequest {
  readonly id: string;
  readonly programId: string;
  readonly userCodeHash: Buffer;
  readonly deviceCodeHash: Buffer;
  readonly clientRange: string;
  readonly requested: DeviceRight;
  readonly now: number;
  readonly expiresAt: number;
}

const columns = `r.id, r.kind, r.program_id as "programId", p.name as "programName", p.updated_at as "programUpdatedAt",
  r.client_range as "clientRange", r.state, r.data, a.id as "accountId", r.key_id as "keyId", r.used_at as "usedAt", r.issued_at as "issuedAt",
  r.created_at as "createdAt", r.expires_at as "expiresAt"`;
const from = `from approval_requests r join programs p on p.id = r.program_id left join accounts a on a.pk = r.account_pk`;
const byDeviceCode = sql<StoredRow>(
  'select_request_by_device_code',
  `select ${columns} ${from} where r.device_code_hash = $1`,
);
const byId = sql<StoredRow>('select_approval_request', `select ${columns} ${from} where r.id = $1`);
const lockText = `select ${columns} ${from} where r.id = $1`;
const lock = sql<StoredRow>('lock_approval_request', { sqlite: lockText, postgres: `${lockText} for update of r` });
const byUserCodeText = `select ${columns} ${from} where r.user_code_hash = $1`;
const byUserCode = sql<StoredRow>('select_request_by_user_code', byUserCodeText);
// A code that another request has, also an ended one, is not used.
const insert = sql(
  'insert_approval_request',
  `insert into approval_requests (id, kind, program_id, user_code_hash, device_code_hash, client_range, state, data,
     created_at, expires_at)
   select $1, 'device', id, $3, $4, $5, 'pending', $6, $7, $8 from programs where id = $2
   on conflict do nothing`,
);
/** Outstanding requests of a program from one client IP range. */
export interface Outstanding {
  readonly count: number;
  /** Milliseconds since 1970; null without one. */
  readonly firstExpiresAt: number | null;
}

// One that began while a clock was ahead has ended: it would count until long after the correction. The times are in the index.
const expiresMsMax = limits.deviceRequestSeconds * 1_000 + aheadMsMax;
const pending = `r.state = 'pending' and r.program_id = $1 and r.expires_at > $2 and r.expires_at - ${expiresMsMax} <= $2`;
const countRange = sql<Outstanding>(
  'count_requests_of_range',
  `select count(*) as count, min(r.expires_at) as "firstExpiresAt" from approval_requests r where ${pending} and r.client_range = $3`,
);
const countProgram = sql<{ count: number }>(
  'count_requests_of_program',
  `select count(*) as count from approval_requests r where ${pending}`,
);
/** Deletes the oldest request. Begins at once delete different ones: on PostgreSQL, up to as many as the condition selects. */
const evictOf = (where: string): Readonly<Record<Dialect, string>> => {
  const text = `delete from approval_requests where id = (select r.id from approval_requests r where ${where}
    order by r.expires_at limit 1`;
  return { sqlite: `${text})`, postgres: `${text} for update of r skip locked)` };
};
// Only near the bound: these read all outstanding requests of the program in the index, once.
const evictOfLargest = sql(
  'evict_request_of_largest_ranges',
  evictOf(`r.id in (
    select m.id from (
      select c.*, max(c.requests) over () as most from (
        select r.id, r.expires_at, count(*) over (partition by r.client_range) as requests
        from approval_requests r where ${pending}) c) m
    where m.requests > $3 + 1 and 2 * m.requests >= m.most order by m.expires_at limit 100)`),
);
const evictOfRange = sql('evict_request_of_range', evictOf(`${pending} and r.client_range = $3`));
const evictOldest = sql('evict_oldest_request', evictOf(pending));
const approve = sql(
  'approve_request',
  `update approval_requests set state = 'approved', data = $2, account_pk = (select pk from accounts where id = $3)
   where id = $1 and state = 'pending'`,
);
const deny = sql(
  'deny_request',
  `update approval_requests set state = 'denied', account_pk = coalesce(account_pk, (select pk from accounts where id = $2))
   where id = $1 and state in ('pending', 'approved')`,
);
const use = sql(
  'use_approval_request',
  `update approval_requests set state = 'used', key_id = $2, used_at = $3, issued_at = $3 where id = $1 and state = 'approved'`,
);
const reissue = sql(
  'reissue_secret_of_request',
  `update approval_requests set issued_at = $2 where id = $1 and state = 'used'`,
);
const deleteEnded = sql(
  'delete_ended_approval_requests',
  `delete from approval_requests where id in (select id from approval_requests where expires_at <= $1 limit $2)`,
);
const deleteAhead = sql('delete_approval_requests_ahead', deleteAheadText('approval_requests'));
const deleteAll = sql('delete_all_approval_requests', 'delete from approval_requests');

const parsed = (row: StoredRow | undefined): RequestRow | undefined =>
  row && { ...row, data: JSON.parse(row.data) as DeviceData };

export const findByDeviceCode = async (reader: Pick<Reader, 'get'>, hash: Buffer): Promise<RequestRow | undefined> =>
  parsed(await reader.get(byDeviceCode, [hash]));

export const findByUserCode = async (reader: Pick<Reader, 'get'>, hash: Buffer): Promise<RequestRow | undefined> =>
  parsed(await reader.get(byUserCode, [hash]));

export const findRequest = async (reader: Pick<Reader, 'get'>, id: string): Promise<RequestRow | undefined> =>
  parsed(await reader.get(byId, [id]));

export const lockRequestTx = async (tx: Transaction, id: string): Promise<RequestRow | undefined> =>
  parsed(await tx.get(lock, [id]));

/** @returns false if another request has one of the codes, or the program has been removed */
export async function insertRequestTx(tx: Transaction, request: NewRequest): Promise<boolean> {
  const { id, programId, userCodeHash, deviceCodeHash, clientRange, requested, now, expiresAt } = request;
  const data = JSON.stringify({ requested } satisfies DeviceData);
  const values = [id, programId, userCodeHash, deviceCodeHash, clientRange, data, now, expiresAt];
  return (await tx.run(insert, values)) > 0;
}

export const outstandingOfRange = async (
  reader: Pick<Reader, 'get'>,
  program: string,
  range: string,
  now: number,
): Promise<Outstanding> => (await reader.get(countRange, [program, now, range])) ?? { count: 0, firstExpiresAt: null };

/** Reads all outstanding requests of the program in the index. */
export const countOfProgram = async (reader: Pick<Reader, 'get'>, program: string, now: number): Promise<number> =>
  (await reader.get(countProgram, [program, now]))?.count ?? 0;

/**
 * Deletes an outstanding request of the program, in favour of a new one. It is the oldest one of the ranges that have at least two more
 * than the range of the new one, and at least half as many as the range that has most. If there is none, it is the oldest one of the
 * own range; for a range without a request, the oldest of all. So a range displaces others only from what they have more.
 * @param ofRange outstanding requests of the range of the new one
 * @returns whether one was deleted
 */
export async function evictTx(tx: Transaction, request: NewRequest, ofRange: number): Promise<boolean> {
  const { programId, clientRange, now } = request;
  if ((await tx.run(evictOfLargest, [programId, now, ofRange])) > 0) return true;
  const evicted =
    ofRange > 0 ? tx.run(evictOfRange, [programId, now, clientRange]) : tx.run(evictOldest, [programId, now]);
  return (await evicted) > 0;
}

/** @returns false if it is decided */
export const approveTx = async (tx: Transaction, id: string, data: DeviceData, accountId: string): Promise<boolean> =>
  (await tx.run(approve, [id, JSON.stringify(data), accountId])) > 0;

/** @param accountId who denies a pending request; null: the service ends an approved one @returns false if it is decided otherwise */
export const denyTx = async (tx: Transaction, id: string, accountId: string | null): Promise<boolean> =>
  (await tx.run(deny, [id, accountId])) > 0;

/** @param at when the key was created @returns false if a rival has used it */
export const useTx = async (tx: Transaction, id: string, keyId: number, at: number): Promise<boolean> =>
  (await tx.run(use, [id, keyId, at])) > 0;

export const reissueTx = (tx: Transaction, id: string, at: number): void => tx.enqueue(reissue, [id, at]);

/** @param before the end, in milliseconds @returns the number of deleted rows */
export const deleteEndedRequests = (db: Db, before: number, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteEnded, [before, rowsMax]));

/** Of requests that began while a clock was ahead. @returns the number of deleted rows */
export const deleteRequestsAhead = (db: Db, clock: Clock, rowsMax: number): Promise<number> =>
  db.transaction((tx) => tx.run(deleteAhead, [...aheadTimes(clock), rowsMax]));

/** After a rotation of the root key, and a replay of the deletion journal. @returns the number of deleted rows */
export const deleteAllRequestsTx = (tx: Transaction): Promise<number> => tx.run(deleteAll);
