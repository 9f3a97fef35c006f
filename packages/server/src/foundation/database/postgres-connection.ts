/**
 * Connections to PostgreSQL: always to the primary, every wait bounded, and acknowledged commits that last whatever the
 * server's own defaults are.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseError, Pool, types as pgTypes, type ClientBase, type CustomTypesConfig } from 'pg';
import { limits } from '@keyreeve/contract';
import type { PostgresLocation } from './postgres-url.ts';

const { postgresStatementMsMax: statementMsMax } = limits;
const longAnswerMsMax = 3_600_000;

/** How long an answer is waited for before the connection is given up. */
export const queryMsMax = (isLong: boolean): number => (isLong ? longAnswerMsMax : limits.postgresAnswerMsMax);

const int8 = 20;
/** Integers of 64 bits as numbers: ids and times lie within 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 && format !== 'binary'
      ? Number
      : pgTypes.getTypeParser(oid, format)) as CustomTypesConfig['getTypeParser'],
};

interface Session {
  readonly isStandby: boolean;
  readonly readOnly: string;
  readonly encoding: string;
}

// What holds for the connection. synchronous_commit is raised, never lowered: remote_apply waits for even more. A commit
// that gave up waiting says so by a warning, which must arrive.
const prepareSession = `select pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') as "readOnly", current_setting('server_encoding') as "encoding",
  set_config('statement_timeout', '${statementMsMax}', false), set_config('lock_timeout', '${statementMsMax}', false),
  set_config('idle_in_transaction_session_timeout', '${statementMsMax}', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'warning', false),
  case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
    then set_config('synchronous_commit', 'on', false) end`;
// One plan for all: these are point reads, whatever is asked.
const prepareReader = `select set_config('plan_cache_mode', 'force_generic_plan', false)`;

async function assertPrimary(client: ClientBase): Promise<void> {
  const { rows } = await client.query<Session>(prepareSession);
  const [session] = rows;
  // A standby answers with what was; only the primary knows what is.
  if (session?.isStandby !== false || session.readOnly !== 'off') {
    throw new Error('the PostgreSQL server is a standby or read-only; Keyreeve asks the primary only');
  }
  if (session.encoding !== 'UTF8') {
    throw new Error(`the PostgreSQL database has the encoding ${session.encoding}; it must be UTF8`);
  }
}

export function newPool(address: PostgresLocation, connectionsMax: number, purpose: 'reader' | 'writer'): Pool {
  const { host, port, user, password, database } = address;
  const pool = new Pool({
    host,
    port,
    user,
    ...(password === undefined ? {} : { password }),
    database,
    ssl: tlsOf(address),
    application_name: `keyreeve ${purpose}`,
    max: connectionsMax,
    connectionTimeoutMillis: limits.postgresConnectMsMax,
    query_timeout: limits.postgresAnswerMsMax,
    idleTimeoutMillis: 0,
    keepAlive: true,
    types,
    onConnect: async (client) => {
      await assertPrimary(client);
      if (purpose === 'reader') await client.query(prepareReader);
    },
  });
  // A connection that breaks while nobody uses it is replaced by the next use; in use, whoever uses it is told.
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

/** Five characters, when the error is the server's. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

/** Nothing was committed, and the same may work the next time: serialization_failure, deadlock_detected. */
export const isWorthRetrying = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '');
