/**
 * Connections to PostgreSQL. They accept only the primary, bound every wait, and make acknowledged commits durable
 * regardless of the server's defaults.
 */
import { Client, DatabaseError, Pool, types as pgTypes, type ClientBase, type ClientConfig, type Connection } from 'pg';
import { limits } from '@keyreeve/contract/limits';
import { monotonicMs } from '../clock.ts';
import type { DatabaseWaits } from './database-waits.ts';
import type { PostgresServers } from './postgres-servers.ts';
import type { PrimaryProof, ServerIdentity } from './primary-proof.ts';

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

/** The oldest major version that Keyreeve is tested with. */
const versionMin = 15;

interface Session {
  readonly isStandby: boolean;
  readonly readOnly: string;
  readonly encoding: string;
  /** For example 150018. */
  readonly version: number;
  readonly versionText: string;
  /** The id of the PostgreSQL process. */
  readonly backend: number;
}

// Settings of the connection. synchronous_commit is only raised: remote_apply, which waits for more, stays. Warnings must
// arrive, because a commit that stopped waiting for its standby reports that by a warning. Each transaction sets again what
// its durability needs (`postgres-transaction.ts`).
const prepareSession = ({ statementMsMax }: DatabaseWaits): string => `select pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') as "readOnly", current_setting('server_encoding') as "encoding",
  current_setting('server_version_num')::int as "version", current_setting('server_version') as "versionText",
  pg_backend_pid() as "backend",
  set_config('statement_timeout', '${statementMsMax}', false), set_config('lock_timeout', '${statementMsMax}', false),
  set_config('idle_in_transaction_session_timeout', '${statementMsMax}', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'warning', false),
  case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
    then set_config('synchronous_commit', 'on', false) end`;
// The timeline of the last checkpoint would be that before a promotion.
const identify = `select (select system_identifier::text from pg_control_system()) as "system",
  case when not pg_is_in_recovery()
    then ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end as "timeline",
  coalesce(host(inet_server_addr()) || ' ' || inet_server_port(), 'local') as "address"`;
// One plan for all values: these are point reads.
const prepareReader = `select set_config('plan_cache_mode', 'force_generic_plan', false)`;
const setSearchPath = `select set_config('search_path', $1, false)`;

/** When each connection was opened, in monotonic milliseconds, and the id of its PostgreSQL process. */
const opened = new WeakMap<ClientBase, { readonly atMs: number; readonly backend: number }>();
export const openedMs = (client: ClientBase): number => opened.get(client)?.atMs ?? 0;
/** A pooler in session mode reports another id to its clients than that of the process. */
export const backendOf = (client: ClientBase): number => opened.get(client)?.backend ?? 0;

const identities = new WeakMap<ClientBase, ServerIdentity>();
/** The server of a connection; undefined without a {@link PrimaryProof}. */
export const serverOf = (client: ClientBase): ServerIdentity | undefined => identities.get(client);

/** @throws Error if the server is an earlier primary, or of another cluster */
async function meetServer(client: Client, proof: PrimaryProof): Promise<void> {
  const atMs = monotonicMs();
  const { rows } = await client.query<Omit<ServerIdentity, 'timeline'> & { readonly timeline: number | null }>(
    identify,
  );
  const [server] = rows;
  if (!server) throw new Error('a select without a table returned no row');
  const { system, address, timeline } = server;
  if (timeline === null) return proof.meetStandby({ system, address }, atMs);
  proof.meet({ system, address, timeline });
  identities.set(client, { system, address, timeline });
}

/** @returns the id of the PostgreSQL process @throws Error unless the server is a primary that Keyreeve can use */
export async function prepare(client: Client, servers: PostgresServers): Promise<number> {
  const { rows } = await client.query<Session>(prepareSession(servers.waits));
  const [session] = rows;
  if (servers.proof) await meetServer(client, servers.proof);
  // A standby may return an earlier state.
  if (session?.isStandby !== false || session.readOnly !== 'off') {
    throw new Error('the PostgreSQL server is a standby or read-only; Keyreeve needs the primary');
  }
  if (session.encoding !== 'UTF8') {
    throw new Error(`the PostgreSQL database has the encoding ${session.encoding}; it must be UTF8`);
  }
  if (session.version < versionMin * 10_000) {
    throw new Error(
      `the server is PostgreSQL ${session.versionText}, but Keyreeve needs version ${versionMin} or newer`,
    );
  }
  if (servers.searchPath !== undefined) await client.query(setSearchPath, [servers.searchPath]);
  opened.set(client, { atMs: monotonicMs(), backend: session.backend });
  servers.accepted(client);
  return session.backend;
}

/** A connection to the server that is the next one, with the credentials that are in force now. */
export function newClient(servers: PostgresServers, more: ClientConfig): Client {
  const client = new Client({
    connectionTimeoutMillis: servers.waits.connectMsMax,
    query_timeout: servers.waits.answerMsMax,
    keepAlive: true,
    // Networks forget idle connections after minutes, without a message: Azure after 4, AWS after 350 s.
    keepAliveInitialDelayMillis: limits.postgresKeepAliveSeconds * 1000,
    ...servers.settings(),
    ...more,
  });
  if (servers.channelBinding === 'require') requireBinding(client.connection);
  return client;
}

export interface PoolOptions {
  readonly connectionsMax: number;
  readonly purpose: 'reader' | 'writer' | 'proof';
  /** Called for each new connection. The pool closes it after an error. */
  readonly accept: (client: Client, backend: number) => Promise<void>;
}

export function newPool(servers: PostgresServers, { connectionsMax, purpose, accept }: PoolOptions): Pool {
  const pool = new Pool({
    // A function that returns an object is a constructor: the pool calls it with `new`.
    Client: function () {
      return newClient(servers, { application_name: `keyreeve ${purpose}` });
    } as unknown as new () => ClientBase,
    max: connectionsMax,
    connectionTimeoutMillis: servers.waits.connectMsMax,
    idleTimeoutMillis: 0,
    onConnect: async (client) => {
      const backend = await prepare(client as Client, servers);
      if (purpose === 'reader') await client.query(prepareReader);
      await accept(client as Client, backend);
    },
  });
  // The pool replaces an idle connection that breaks. If a connection in use breaks, its query fails.
  pool.on('error', (error) => servers.handover.observe(error));
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Without a sign-in that is bound to the certificate of the server, closes the connection before it sends a password. The
 * library uses such a sign-in if the server offers it.
 */
function requireBinding(connection: Connection): void {
  let isOffered = false;
  const refuse = (): void => {
    if (isOffered) return;
    connection.stream.destroy(
      new Error(
        'channel_binding=require, but the server does not offer SCRAM-SHA-256-PLUS, as a connection pooler may not',
      ),
    );
  };
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS');
    refuse();
  });
  for (const other of ['authenticationCleartextPassword', 'authenticationMD5Password', 'authenticationOk'])
    connection.on(other, refuse);
}

/** Five characters, if the server reported the error. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

/** serialization_failure or deadlock_detected: nothing was committed, and a retry may succeed. */
export const isWorthRetrying = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '');

/** The connection ended before the response: it broke, or the server shut down. */
export const isConnectionLost = (error: unknown): boolean => /^(?:57P0[123]|08...)?$/.test(sqlState(error) ?? '');
