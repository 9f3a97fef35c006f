/** Whole tables: read page by page, written batch by batch, emptied. Bytes leave and enter as hexadecimal text. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql, type Dialect, type SqlValue, type Statement } from '../../foundation/database/sql.ts';
import * as tables from './tables.ts';
import type { Counts, Row, Table } from './tables.ts';

/** Few enough that a page is small, enough that its statement's cost is shared. */
const rowsPerPage = 500;

/** Rows after a key, in the order of the keys. */
function pageOf({ name, key, columns }: Table): Record<Dialect, string> {
  const list = (hex: (column: string) => string): string =>
    Object.entries(columns)
      .map(([column, kind]) => (kind === 'bytes' ? `${hex(column)} as ${column}` : column))
      .join(', ');
  const rest = `from ${name} where ${name}.${key} > $1 order by ${name}.${key} limit $2`;
  return {
    sqlite: `select ${list((column) => `lower(hex(${column}))`)} ${rest}`,
    postgres: `select ${list((column) => `encode(${column}, 'hex')`)} ${rest}`,
  };
}

/** Many rows as one JSON array. */
function insertOf({ name, columns, defaults = {} }: Table): Record<Dialect, string> {
  const names = Object.keys(columns).join(', ');
  const list = (value: (column: string) => string, bytes: (text: string) => string): string =>
    Object.entries(columns)
      .map(([column, kind]) => {
        const given = column in defaults ? `coalesce(${value(column)}, ${defaults[column]})` : value(column);
        return kind === 'bytes' ? bytes(given) : given;
      })
      .join(', ');
  const types = Object.entries(columns)
    .map(([column, kind]) => `${column} ${kind === 'integer' ? 'bigint' : 'text'}`)
    .join(', ');
  return {
    sqlite: `insert into ${name} (${names})
      select ${list(
        (column) => `value ->> '$.${column}'`,
        (text) => `unhex(${text})`,
      )} from json_each($1)`,
    postgres: `insert into ${name} (${names})
      select ${list(
        (column) => column,
        (text) => `decode(${text}, 'hex')`,
      )} from json_to_recordset($1::json) as given (${types})`,
  };
}

const pageOfInstallation = sql<Row>('page_installation', pageOf(tables.installation));
const pageOfAccounts = sql<Row>('page_accounts', pageOf(tables.accounts));
const pageOfSigningKeys = sql<Row>('page_signing_keys', pageOf(tables.signingKeys));
const pageOfApiKeys = sql<Row>('page_api_keys', pageOf(tables.apiKeys));
const pageOfKeyPrefixes = sql<Row>('page_key_prefixes', pageOf(tables.keyPrefixes));
const pageOfAuditEvents = sql<Row>('page_audit_events', pageOf(tables.auditEvents));
const pageOfSessions = sql<Row>('page_sessions', pageOf(tables.sessions));
const pageOfThrottleBuckets = sql<Row>('page_throttle_buckets', pageOf(tables.throttleBuckets));
const pageOfSecondFactors = sql<Row>('page_second_factors', pageOf(tables.secondFactors));
const pageOfRecoveryCodes = sql<Row>('page_recovery_codes', pageOf(tables.recoveryCodes));
const pageOfWebhookEndpoints = sql<Row>('page_webhook_endpoints', pageOf(tables.webhookEndpoints));
const pageOfWebhookProgress = sql<Row>('page_webhook_progress', pageOf(tables.webhookProgress));
const pageOfAuditChains = sql<Row>('page_audit_chains', pageOf(tables.auditChains));
const pageOfOutbox = sql<Row>('page_outbox', pageOf(tables.outbox));
const pageOfOneTimeCodes = sql<Row>('page_one_time_codes', pageOf(tables.oneTimeCodes));
const pageOfEmailChanges = sql<Row>('page_email_changes', pageOf(tables.emailChanges));
const insertInstallation = sql('load_installation', insertOf(tables.installation));
const insertAccounts = sql('load_accounts', insertOf(tables.accounts));
const insertSigningKeys = sql('load_signing_keys', insertOf(tables.signingKeys));
const insertApiKeys = sql('load_api_keys', insertOf(tables.apiKeys));
const insertKeyPrefixes = sql('load_key_prefixes', insertOf(tables.keyPrefixes));
const insertAuditEvents = sql('load_audit_events', insertOf(tables.auditEvents));
const insertSessions = sql('load_sessions', insertOf(tables.sessions));
const insertThrottleBuckets = sql('load_throttle_buckets', insertOf(tables.throttleBuckets));
const insertSecondFactors = sql('load_second_factors', insertOf(tables.secondFactors));
const insertRecoveryCodes = sql('load_recovery_codes', insertOf(tables.recoveryCodes));
const insertWebhookEndpoints = sql('load_webhook_endpoints', insertOf(tables.webhookEndpoints));
const insertWebhookProgress = sql('load_webhook_progress', insertOf(tables.webhookProgress));
const insertAuditChains = sql('load_audit_chains', insertOf(tables.auditChains));
const insertOutbox = sql('load_outbox', insertOf(tables.outbox));
const insertOneTimeCodes = sql('load_one_time_codes', insertOf(tables.oneTimeCodes));
const insertEmailChanges = sql('load_email_changes', insertOf(tables.emailChanges));
const countInstallation = sql<{ count: number }>('size_installation', `select count(*) as count from installation`);
const countAccounts = sql<{ count: number }>('size_accounts', `select count(*) as count from accounts`);
const countSigningKeys = sql<{ count: number }>('size_signing_keys', `select count(*) as count from signing_keys`);
const countApiKeys = sql<{ count: number }>('size_api_keys', `select count(*) as count from api_keys`);
const countKeyPrefixes = sql<{ count: number }>('size_key_prefixes', `select count(*) as count from key_prefixes`);
const countAuditEvents = sql<{ count: number }>('size_audit_events', `select count(*) as count from audit_events`);
const countSessions = sql<{ count: number }>('size_sessions', `select count(*) as count from sessions`);
const countBuckets = sql<{ count: number }>('size_throttle_buckets', `select count(*) as count from throttle_buckets`);
const countSecondFactors = sql<{ count: number }>(
  'size_second_factors',
  `select count(*) as count from second_factors`,
);
const countRecoveryCodes = sql<{ count: number }>(
  'size_recovery_codes',
  `select count(*) as count from recovery_codes`,
);
const countWebhookEndpoints = sql<{ count: number }>(
  'size_webhook_endpoints',
  `select count(*) as count from webhook_endpoints`,
);
const countWebhookProgress = sql<{ count: number }>(
  'size_webhook_progress',
  `select count(*) as count from webhook_progress`,
);
const countAuditChains = sql<{ count: number }>('size_audit_chains', `select count(*) as count from audit_chains`);
const countOutbox = sql<{ count: number }>('size_outbox', `select count(*) as count from outbox`);
const countOneTimeCodes = sql<{ count: number }>('size_one_time_codes', `select count(*) as count from one_time_codes`);
const countEmailChanges = sql<{ count: number }>('size_email_changes', `select count(*) as count from email_changes`);
const clearInstallation = sql('clear_installation', `delete from installation`);
const clearAccounts = sql('clear_accounts', `delete from accounts`);
const clearSigningKeys = sql('clear_signing_keys', `delete from signing_keys`);
const clearApiKeys = sql('clear_api_keys', `delete from api_keys`);
const clearKeyPrefixes = sql('clear_key_prefixes', `delete from key_prefixes`);
const clearAuditEvents = sql('clear_audit_events', `delete from audit_events`);
const clearSessions = sql('clear_sessions', `delete from sessions`);
const clearThrottleBuckets = sql('clear_throttle_buckets', `delete from throttle_buckets`);
const clearSecondFactors = sql('clear_second_factors', `delete from second_factors`);
const clearRecoveryCodes = sql('clear_recovery_codes', `delete from recovery_codes`);
const clearWebhookEndpoints = sql('clear_webhook_endpoints', `delete from webhook_endpoints`);
const clearWebhookProgress = sql('clear_webhook_progress', `delete from webhook_progress`);
const clearAuditChains = sql('clear_audit_chains', `delete from audit_chains`);
const clearOutbox = sql('clear_outbox', `delete from outbox`);
const clearOneTimeCodes = sql('clear_one_time_codes', `delete from one_time_codes`);
const clearEmailChanges = sql('clear_email_changes', `delete from email_changes`);

export interface StoredTable extends Table {
  readonly page: Statement<Row>;
  readonly insert: Statement<never>;
  readonly size: Statement<{ count: number }>;
  readonly clear: Statement<never>;
}

const stored = (
  table: Table,
  page: Statement<Row>,
  insert: Statement<never>,
  size: Statement<{ count: number }>,
  clear: Statement<never>,
): StoredTable => ({ ...table, page, insert, size, clear });

/** In the order in which they are written. */
export const storedTables: readonly StoredTable[] = [
  stored(tables.installation, pageOfInstallation, insertInstallation, countInstallation, clearInstallation),
  stored(tables.accounts, pageOfAccounts, insertAccounts, countAccounts, clearAccounts),
  stored(tables.secondFactors, pageOfSecondFactors, insertSecondFactors, countSecondFactors, clearSecondFactors),
  stored(tables.recoveryCodes, pageOfRecoveryCodes, insertRecoveryCodes, countRecoveryCodes, clearRecoveryCodes),
  stored(tables.signingKeys, pageOfSigningKeys, insertSigningKeys, countSigningKeys, clearSigningKeys),
  stored(tables.apiKeys, pageOfApiKeys, insertApiKeys, countApiKeys, clearApiKeys),
  stored(tables.keyPrefixes, pageOfKeyPrefixes, insertKeyPrefixes, countKeyPrefixes, clearKeyPrefixes),
  stored(
    tables.webhookEndpoints,
    pageOfWebhookEndpoints,
    insertWebhookEndpoints,
    countWebhookEndpoints,
    clearWebhookEndpoints,
  ),
  stored(
    tables.webhookProgress,
    pageOfWebhookProgress,
    insertWebhookProgress,
    countWebhookProgress,
    clearWebhookProgress,
  ),
  stored(tables.auditEvents, pageOfAuditEvents, insertAuditEvents, countAuditEvents, clearAuditEvents),
  stored(tables.auditChains, pageOfAuditChains, insertAuditChains, countAuditChains, clearAuditChains),
  stored(tables.sessions, pageOfSessions, insertSessions, countSessions, clearSessions),
  stored(tables.throttleBuckets, pageOfThrottleBuckets, insertThrottleBuckets, countBuckets, clearThrottleBuckets),
  stored(tables.outbox, pageOfOutbox, insertOutbox, countOutbox, clearOutbox),
  stored(tables.oneTimeCodes, pageOfOneTimeCodes, insertOneTimeCodes, countOneTimeCodes, clearOneTimeCodes),
  stored(tables.emailChanges, pageOfEmailChanges, insertEmailChanges, countEmailChanges, clearEmailChanges),
];

/** All rows of a table in pages of bounded size, none of them empty. */
export async function* pagesOf(reader: Reader, { key, columns, page }: StoredTable): AsyncGenerator<Row[]> {
  const kind = columns[key];
  let after: SqlValue = kind === 'integer' ? -1 : kind === 'bytes' ? Uint8Array.of(0) : '';
  for (;;) {
    const rows: Row[] = await reader.all(page, [after, rowsPerPage]);
    const last = rows.at(-1)?.[key];
    if (last === undefined || last === null) return;
    yield rows;
    if (rows.length < rowsPerPage) return;
    after = kind === 'bytes' ? Buffer.from(String(last), 'hex') : last;
  }
}

export async function insertRows(tx: Transaction, table: StoredTable, rows: readonly Row[]): Promise<void> {
  await tx.run(table.insert, [JSON.stringify(rows)]);
}

export async function countRows(reader: Reader): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const { name, size } of storedTables) counts[name] = (await reader.get(size))?.count ?? 0;
  return counts;
}

/** Of an installation: one that a program has only opened has none. */
export async function holdsRows(reader: Reader): Promise<boolean> {
  const counts = await countRows(reader);
  return Object.entries(counts).some(([name, count]) => name !== tables.installation.name && count > 0);
}

export async function clearTables(tx: Transaction): Promise<void> {
  for (const { clear } of storedTables.toReversed()) await tx.run(clear);
}

// No other transaction writes to any of them until this one has ended; reads go on. The list is the whole installation:
// a table that a running service still wrote to would keep rows of the database that is replaced, or end the restore by
// a deadlock. SQLite has one writer anyway.
const lockAll = sql('lock_all_tables', {
  sqlite: `select null`,
  postgres: `lock table ${storedTables.map(({ name }) => name).join(', ')} in exclusive mode`,
});
export const lockTables = async (tx: Transaction): Promise<void> => void (await tx.all(lockAll));

// What is made next has an id above all there are: rows that brought theirs along don't move PostgreSQL's counters.
// SQLite's are rows of a table, raised by themselves except beyond the rows there are.
const continueAccounts = sql('continue_account_pks', {
  sqlite: `select null`,
  postgres: `select setval(pg_get_serial_sequence('accounts', 'pk'), coalesce(max(pk), 1), count(*) > 0) from accounts`,
});
const beginEventSequence = sql('begin_audit_event_ids', {
  sqlite: `insert into sqlite_sequence (name, seq) select 'audit_events', 0
    where not exists (select 1 from sqlite_sequence where name = 'audit_events')`,
  postgres: `select null`,
});
const continueEvents = sql('continue_audit_event_ids', {
  sqlite: `update sqlite_sequence set seq = max(seq, $1, (select coalesce(max(id), 0) from audit_events))
    where name = 'audit_events'`,
  postgres: `select setval(pg_get_serial_sequence('audit_events', 'id'), greatest(1, $1::bigint, max(id)),
    greatest($1::bigint, max(id)) > 0) from audit_events`,
});

/** @param eventAfter the next audit event’s id is above this as well */
export async function continueIds(tx: Transaction, eventAfter = 0): Promise<void> {
  await tx.run(continueAccounts);
  await continueEventIds(tx, eventAfter);
}

/** @param eventAfter the next audit event’s id is above this */
export async function continueEventIds(tx: Transaction, eventAfter: number): Promise<void> {
  await tx.run(beginEventSequence);
  await tx.run(continueEvents, [eventAfter]);
}

// A session lives only while it carries its account's epoch: none that was begun before does.
const raiseEpochs = sql('end_all_sessions', `update accounts set session_epoch = session_epoch + 1`);
export const endSessions = async (tx: Transaction): Promise<void> => void (await tx.run(raiseEpochs));

const selectMove = sql<{ details: string }>(
  'select_move',
  `select details from audit_events where id = $1 and action = 'installation.moved'`,
);
/** Whether this event of the trail is a move’s. */
export const isMoveEvent = async (reader: Reader, id: number): Promise<boolean> =>
  (await reader.get(selectMove, [id])) !== undefined;

const mayCreateTables = sql<{ may: number }>('may_create_tables', {
  sqlite: `select 1 as may`,
  postgres: `select case when has_schema_privilege(current_schema(), 'create') then 1 else 0 end as may`,
});
export const mayCreate = async (reader: Reader): Promise<boolean> => (await reader.get(mayCreateTables))?.may === 1;
