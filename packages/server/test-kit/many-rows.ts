/** Inserts thousands of rows with one statement, without the rules of the service. */
import { useKeys } from './uses.ts';
import { randomBytes } from 'node:crypto';
import type { Db } from '../src/foundation/database/db.ts';
import { sql } from '../src/foundation/database/sql.ts';
import { fold } from '../src/foundation/fold.ts';

/** A row of `api_keys`. */
export interface ManyKey {
  readonly id: number;
  readonly nickname: string;
  readonly createdAt: number;
  readonly scopes?: string;
  readonly hint?: string | null;
  readonly expiresAt?: number | null;
  readonly lastUsedAt?: number | null;
  readonly disabledAt?: number | null;
}

const keyColumns = `lookup, key_hash, id, account_pk, nickname, scopes, expires_at, created_at, updated_at, hint,
   disabled_at, disabled_reason, folded`;
const insertManyKeys = sql('test_insert_keys', {
  sqlite: `insert into api_keys (${keyColumns})
    select value ->> '$.id', unhex(value ->> '$.hash'), value ->> '$.id', (select pk from accounts where id = $2),
      value ->> '$.nickname', coalesce(value ->> '$.scopes', ''), value ->> '$.expiresAt',
      value ->> '$.createdAt', value ->> '$.createdAt', value ->> '$.hint', value ->> '$.disabledAt',
      case when value ->> '$.disabledAt' is null then null else 'owner' end, value ->> '$.folded' from json_each($1)`,
  postgres: `insert into api_keys (${keyColumns})
    select id, decode(hash, 'hex'), id, (select pk from accounts where id = $2), nickname, coalesce(scopes, ''), "expiresAt",
      "createdAt", "createdAt", hint, "disabledAt", case when "disabledAt" is null then null else 'owner' end, folded
    from json_to_recordset($1::json) as given (id bigint, hash text, nickname text, scopes text, "expiresAt" bigint,
      "createdAt" bigint, hint text, "disabledAt" bigint, folded text)`,
});

/** Their secrets are unknown. */
export async function insertKeys(db: Db, accountId: string, keys: readonly ManyKey[]): Promise<void> {
  const rows = keys.map((key) => ({
    ...key,
    folded: fold(key.nickname),
    hash: `01${randomBytes(32).toString('hex')}`,
  }));
  // PostgreSQL also adds the nicknames to their index.
  await db.transaction((tx) => tx.run(insertManyKeys, [JSON.stringify(rows), accountId]), { isLong: true });
  const uses = keys.flatMap(({ id, lastUsedAt: at = null }) => (at === null ? [] : { id, at }));
  if (uses.length > 0) await useKeys(db, uses);
}

/** A row of `audit_events`, without a place in a chain. */
export interface ManyEvent {
  readonly at: number;
  readonly actor?: string;
  readonly action?: string;
  readonly accountId?: string | null;
  readonly target?: string | null;
  /** JSON, or a damaged text. */
  readonly details?: string | null;
}

const eventColumns = 'at, actor, action, account_id, target, details';
const insertManyEvents = sql('test_insert_many_events', {
  sqlite: `insert into audit_events (${eventColumns})
    select value ->> '$.at', coalesce(value ->> '$.actor', 'system'), coalesce(value ->> '$.action', 'session.created'),
      value ->> '$.accountId', value ->> '$.target', value ->> '$.details' from json_each($1) order by key`,
  postgres: `insert into audit_events (${eventColumns})
    select at, coalesce(actor, 'system'), coalesce(action, 'session.created'), "accountId", target, details
    from rows from (json_to_recordset($1::json) as (at bigint, actor text, action text, "accountId" text, target text,
      details text)) with ordinality order by ordinality`,
});

/** With ids in the order of the array. */
export async function insertEvents(db: Db, events: readonly ManyEvent[]): Promise<void> {
  await db.transaction((tx) => tx.run(insertManyEvents, [JSON.stringify(events)]));
}

const insertManyAccounts = sql('test_insert_many_accounts', {
  sqlite: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at)
    select value ->> '$.id', value ->> '$.email', value ->> '$.email', '', 'user', 0, $2, $2 from json_each($1) order by key`,
  postgres: `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at)
    select id, email, email, '', 'user', 0, $2, $2
    from rows from (json_to_recordset($1::json) as (id text, email text)) with ordinality order by ordinality`,
});

/** Without a password. */
export async function insertAccounts(
  db: Db,
  accounts: readonly { readonly id: string; readonly email: string }[],
  now: number,
): Promise<void> {
  await db.transaction((tx) => tx.run(insertManyAccounts, [JSON.stringify(accounts), now]));
}
