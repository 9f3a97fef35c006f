/**
 * oidc-provider, configured according to its documentation: an adapter for the database, one client that authenticates with
 * its secret, introspection and client credentials, and defaults otherwise. Access tokens are opaque by default. An
 * introspection with a token type hint calls the adapter twice.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import { Provider, type Adapter, type AdapterPayload } from 'oidc-provider';
import type { PeerDatabase } from './database.ts';

export const client = { id: 'bench', secret: 'a-secret-of-the-benchmark-with-enough-characters' };

interface StoredRow {
  readonly payload: string;
  readonly expires_at: number | string | null;
  readonly consumed_at: number | string | null;
}

interface Row {
  readonly payload: AdapterPayload;
  /** Seconds since 1970. */
  readonly expiresAt: number | undefined;
  readonly isConsumed: boolean;
}

const createTable = `create table if not exists oidc_models (
  id text not null, model text not null, payload text not null, grant_id text, user_code text, uid text,
  expires_at bigint, consumed_at bigint, primary key (id, model))`;
const select = 'select payload, expires_at, consumed_at from oidc_models where id = $1 and model = $2';

export async function createProvider(database: PeerDatabase): Promise<Provider> {
  await run(database, createTable, []);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new Provider('http://localhost:3000', {
    adapter: (model: string) => adapterOf(database, model),
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: ['read'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
    },
    ttl: { ClientCredentials: 86_400 },
    cookies: { keys: ['a cookie key of the benchmark'] },
    jwks: { keys: [privateKey.export({ format: 'jwk' })] },
  });
}

/** Implements the methods of the documented adapter that these features use. The others reject. */
function adapterOf(database: PeerDatabase, model: string): Adapter {
  const unused = (): Promise<never> => Promise.reject(new Error('not used here'));
  return {
    upsert: (id, payload, expiresIn) =>
      run(
        database,
        `insert into oidc_models (id, model, payload, grant_id, expires_at) values ($1, $2, $3, $4, $5)
         on conflict (id, model) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
        [
          id,
          model,
          JSON.stringify(payload),
          payload.grantId ?? null,
          expiresIn === undefined ? null : Math.floor(Date.now() / 1000) + expiresIn,
        ],
      ),
    find: async (id) => {
      const row = await find(database, id, model);
      if (!row || (row.expiresAt !== undefined && row.expiresAt * 1000 < Date.now())) return undefined;
      return row.isConsumed ? { ...row.payload, consumed: true } : row.payload;
    },
    destroy: (id) => run(database, 'delete from oidc_models where id = $1 and model = $2', [id, model]),
    findByUserCode: unused,
    findByUid: unused,
    consume: unused,
    revokeByGrantId: unused,
  };
}

/** Uses a prepared statement on both databases. */
async function find(database: PeerDatabase, id: string, model: string): Promise<Row | undefined> {
  const row = (
    database.kind === 'sqlite'
      ? prepared(database).get(id, model)
      : (await database.pool.query<StoredRow>({ name: 'find', text: select, values: [id, model] })).rows[0]
  ) as StoredRow | undefined;
  if (!row) return undefined;
  return {
    payload: JSON.parse(row.payload) as AdapterPayload,
    // pg returns 64-bit integers as text.
    expiresAt: row.expires_at === null ? undefined : Number(row.expires_at),
    isConsumed: row.consumed_at !== null,
  };
}

type SqliteDatabase = Extract<PeerDatabase, { kind: 'sqlite' }>;
const statements = new WeakMap<SqliteDatabase, Statement<[id: string, model: string]>>();

function prepared(database: SqliteDatabase): Statement<[id: string, model: string]> {
  const statement =
    statements.get(database) ?? database.sqlite.prepare<[id: string, model: string]>(select.replaceAll(/\$\d/g, '?'));
  statements.set(database, statement);
  return statement;
}

async function run(database: PeerDatabase, text: string, values: readonly (string | number | null)[]): Promise<void> {
  if (database.kind === 'sqlite') database.sqlite.prepare(text.replaceAll(/\$\d/g, '?')).run(...values);
  else await database.pool.query(text, [...values]);
}
