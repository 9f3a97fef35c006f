/**
 * Connections to PostgreSQL. They accept only the primary, bound every wait, and make acknowledged commits durable
 * regardless of the server's defaults.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseError, Pool, types as pgTypes, type ClientBase } from 'pg';
import { databaseWaits, type DatabaseWaits } from './database-waits.ts';
import type { PostgresLocation } from './postgres-url.ts';

const longResponseMsMax = 3_600_000;

/** Milliseconds to wait for a response before the connection is closed. */
export const queryMsMax = (isLong: boolean, { answerMsMax }: DatabaseWaits): number =>
  isLong ? longResponseMsMax : answerMsMax;

const int8 = 20;
const text = 25;
const textParser: unknown = pgTypes.getTypeParser(text, 'text');
/** @returns the parser of a type; undefined for texts. 64-bit integers are numbers: ids and times are below 2^53. */
export function parserOf(oid: number): ((text: string) => unknown) | undefined {
  if (oid === int8) return Number;
  const parser = pgTypes.getTypeParser(oid, 'text') as (text: string) => unknown;
  return parser === textParser ? undefined : parser;
}

interface Session {
  readonly isStandby: boolean;
  readonly readOnly: string;
  readonly encoding: string;
}

// Settings of the connection. synchronous_commit is only raised: remote_apply, which waits for more, stays. Warnings must
// arrive, because a commit that stopped waiting for its standby reports that by a warning.
const prepareSession = ({ statementMsMax }: DatabaseWaits): string => `select pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') as "readOnly", current_setting('server_encoding') as "encoding",
  set_config('statement_timeout', '${statementMsMax}', false), set_config('lock_timeout', '${statementMsMax}', false),
  set_config('idle_in_transaction_session_timeout', '${statementMsMax}', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'warning', false),
  case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
    then set_config('synchronous_commit', 'on', false) end`;
// One plan for all values: these are point reads.
const prepareReader = `select set_config('plan_cache_mode', 'force_generic_plan', false)`;

async function assertPrimary(client: ClientBase, waits: DatabaseWaits): Promise<void> {
  const { rows } = await client.query<Session>(prepareSession(waits));
  const [session] = rows;
  // A standby may return an earlier state.
  if (session?.isStandby !== false || session.readOnly !== 'off') {
    throw new Error('the PostgreSQL server is a standby or read-only; Keyreeve needs the primary');
  }
  if (session.encoding !== 'UTF8') {
    throw new Error(`the PostgreSQL database has the encoding ${session.encoding}; it must be UTF8`);
  }
}

export function newPool(location: PostgresLocation, connectionsMax: number, purpose: 'reader' | 'writer'): Pool {
  const { host, port, user, password, database, waits = databaseWaits } = location;
  const pool = new Pool({
    host,
    port,
    user,
    ...(password === undefined ? {} : { password }),
    database,
    ssl: tlsOf(location),
    application_name: `keyreeve ${purpose}`,
    max: connectionsMax,
    connectionTimeoutMillis: waits.connectMsMax,
    query_timeout: waits.answerMsMax,
    idleTimeoutMillis: 0,
    keepAlive: true,
    onConnect: async (client) => {
      await assertPrimary(client, waits);
      if (purpose === 'reader') await client.query(prepareReader);
    },
  });
  // The pool replaces an idle connection that breaks. If a connection in use breaks, its query fails.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

function tlsOf({ sslMode, sslRootCert }: PostgresLocation): ConnectionOptions | false {
  if (sslMode === 'disable') return false;
  if (sslMode === 'require') return { rejectUnauthorized: false };
  const ca = sslRootCert === undefined ? {} : { ca: readFileSync(sslRootCert, 'utf8') };
  return sslMode === 'verify-ca' ? { ...ca, checkServerIdentity: () => undefined } : ca;
}

/** Five characters, if the server reported the error. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

/** serialization_failure or deadlock_detected: nothing was committed, and a retry may succeed. */
export const isWorthRetrying = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '');
