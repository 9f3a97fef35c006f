/**
 * Fills a database with API keys through the program's own formats and hashes, and writes the texts of up to a million
 * of them, drawn evenly, to a pool file for the load generator: 53 bytes each.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { makeKey } from '../packages/server/src/api-keys/key-text.ts';
import { systemClock } from '../packages/server/src/clock.ts';
import { deriveKeys } from '../packages/server/src/crypto/master-key.ts';
import { lookupOf } from '../packages/server/src/crypto/keyed-hash.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { claimInstallation } from '../packages/server/src/db/installation.ts';
import { SqliteConnection } from '../packages/server/src/db/sqlite-connection.ts';
import { SqliteDb } from '../packages/server/src/db/sqlite.ts';

export interface Seeded {
  readonly databasePath: string;
  readonly poolPath: string;
  /** base64url. */
  readonly masterKey: string;
}

const keysPerAccount = 100;
const poolKeysMax = 1_000_000;
export const keyBytes = 53;

export async function seed(databasePath: string, keys: number): Promise<Seeded> {
  const masterKey = randomBytes(32);
  const installation = deriveKeys(masterKey);
  const db = await SqliteDb.open(databasePath);
  await migrate(db, systemClock);
  await claimInstallation(db, installation.check, systemClock.now());
  await db.close();

  const connection = new SqliteConnection(databasePath, 'write');
  connection.exec('pragma synchronous = off; pragma cache_size = -400000; pragma temp_store = memory; begin');
  insertAccounts(connection, Math.ceil(keys / keysPerAccount));
  // Sorted before they are inserted: ten million random inserts into one tree would take hours.
  connection.exec(
    'create temp table draft (lookup integer, key_hash blob, id integer, account_pk integer, nickname text)',
  );
  const insert = connection.prepare('insert into draft values (?, ?, ?, ?, ?)');
  const poolPath = `${databasePath}.pool`;
  const pool = openSync(poolPath, 'w');
  const step = Math.ceil(keys / poolKeysMax);
  let texts = '';
  for (let i = 0; i < keys; i++) {
    const text = makeKey('krv').reveal();
    const hash = installation.apiKeyHash.stored(text);
    insert.run(lookupOf(hash), hash, i * 7_919 + 1, Math.floor(i / keysPerAccount) + 1, `key ${i % keysPerAccount}`);
    if (i % step === 0) texts += text;
    if (texts.length > 1_000_000 || i === keys - 1) {
      writeSync(pool, texts);
      texts = '';
    }
  }
  closeSync(pool);
  const now = systemClock.now();
  connection.exec(
    `insert into api_keys select lookup, key_hash, id, account_pk, nickname, '', null, null, ${now}, ${now} from draft order by lookup;
     drop table draft; commit; pragma wal_checkpoint(truncate); analyze`,
  );
  connection.close();
  return { databasePath, poolPath, masterKey: masterKey.toString('base64url') };
}

function insertAccounts(connection: SqliteConnection, count: number): void {
  const insert = connection.prepare(
    `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at)
     values (?, ?, ?, ?, 'user', 0, 0, 0)`,
  );
  for (let i = 1; i <= count; i++) {
    const id = `acc_${createHash('sha256').update(String(i)).digest('base64url').replaceAll(/[-_]/g, 'x').slice(0, 22)}`;
    insert.run(id, `bench${i}@example.com`, `bench${i}@example.com`, 'none');
  }
}
