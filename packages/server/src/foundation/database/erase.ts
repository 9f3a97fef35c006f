/** Removes deleted and replaced rows from the files of the tables: the databases keep their bytes until the space is used again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../errors.ts';
import type { Db, Transaction } from './db.ts';
import { sql } from './sql.ts';

const overwriteDeleted = sql('overwrite_deleted', { sqlite: 'pragma secure_delete = on', postgres: 'select null' });

/** SQLite overwrites with zeros what the transaction deletes or replaces. Call {@link eraseDeleted} after the commit. */
export const overwriteDeletedTx = async (tx: Transaction): Promise<void> => void (await tx.all(overwriteDeleted));

/** The write-ahead log of SQLite contains earlier pages. The statement waits 5 s for readers. */
const truncateLog = sql<{ busy: number }>('truncate_log', {
  sqlite: 'pragma wal_checkpoint(truncate)',
  postgres: 'select 0 as busy',
});
/** The number of a new transaction. Every transaction that has deleted rows before has a lower one. */
const selectTransaction = sql<{ id: string }>('next_transaction', {
  sqlite: `select '' as id`,
  postgres: 'select pg_current_xact_id()::xid::text as id',
});
/**
 * `file` changes when PostgreSQL has rewritten the table, which only its owner can do; other roles get a warning.
 * `isComplete` is 1 if the rewritten table has no deleted rows. Otherwise, an earlier transaction holds them, and `relfrozenxid` is
 * its number: one with a snapshot of this database, such as a backup, or one that writes in any database of the server.
 */
const selectFile = sql<{ file: number; isComplete: number }>('find_table_file', {
  sqlite: 'select 0 as file, 0 as "isComplete" where $1 = $2',
  postgres: `select pg_relation_filenode(oid)::bigint as file, (age(relfrozenxid) < age($2::text::xid))::int as "isComplete"
    from pg_class where oid = $1::text::regclass`,
});

const rewriteRootKeys = sql('rewrite_root_keys', { sqlite: 'select null', postgres: 'vacuum full root_keys' });
const rewriteSecondFactors = sql('rewrite_second_factors', {
  sqlite: 'select null',
  postgres: 'vacuum full second_factors',
});
const rewriteWebhookEndpoints = sql('rewrite_webhook_endpoints', {
  sqlite: 'select null',
  postgres: 'vacuum full webhook_endpoints',
});
const rewriteSigningKeys = sql('rewrite_signing_keys', { sqlite: 'select null', postgres: 'vacuum full signing_keys' });
const rewriteOutbox = sql('rewrite_outbox', { sqlite: 'select null', postgres: 'vacuum full outbox' });
const rewrites = {
  root_keys: rewriteRootKeys,
  second_factors: rewriteSecondFactors,
  webhook_endpoints: rewriteWebhookEndpoints,
  signing_keys: rewriteSigningKeys,
  outbox: rewriteOutbox,
};
export type ErasableTable = keyof typeof rewrites;

/** On PostgreSQL, each transaction that writes in any database of the server lets an attempt fail while it is open. */
const attemptsMax = { sqlite: 3, postgres: 10 };
/**
 * Before the next attempt. `vacuum full` does not wait for other transactions. The pause is longer than most of them.
 */
const pauseMs = 500;

/**
 * Removes rows that committed transactions have deleted or replaced. The files of PostgreSQL's write-ahead log still contain them.
 * @param tables ignored on SQLite, where the function covers all tables
 * @returns false if an earlier transaction, such as a backup, is open during all attempts, if the role is not the owner of
 *   a table on PostgreSQL, if a table is too large to be rewritten in the time of a statement, or if the database does not respond
 */
export async function eraseDeleted(db: Db, tables: readonly ErasableTable[]): Promise<boolean> {
  const rest = new Set(db.dialect === 'sqlite' ? [] : tables);
  let transaction: string | undefined;
  const attempts = attemptsMax[db.dialect];
  for (let attempt = 1; attempt <= attempts; attempt++) {
    transaction ??= (await ifAvailable(db.get(selectTransaction)))?.id;
    if (transaction !== undefined) {
      for (const table of rest) if (await ifAvailable(isRewritten(db, table, transaction))) rest.delete(table);
      if (rest.size === 0 && (await ifAvailable(isLogTruncated(db)))) return true;
    }
    if (attempt < attempts) await sleep(pauseMs);
  }
  return false;
}

const ifAvailable = <T>(result: Promise<T>): Promise<T | undefined> =>
  result.catch((error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  });

/** SQLite: moves the write-ahead log into the database and empties its file, unless another process reads an earlier state. */
export const truncateWriteAheadLog = async (db: Db): Promise<void> => void (await ifAvailable(isLogTruncated(db)));

async function isLogTruncated(db: Db): Promise<boolean> {
  const [row] = await db.all(truncateLog);
  return row?.busy === 0;
}

/** @param transaction the number of a transaction that began after the rows were deleted */
async function isRewritten(db: Db, table: ErasableTable, transaction: string): Promise<boolean> {
  const before = await db.get(selectFile, [table, transaction]);
  await db.all(rewrites[table]);
  const after = await db.get(selectFile, [table, transaction]);
  return before?.file !== after?.file && after?.isComplete === 1;
}
