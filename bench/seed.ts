/**
 * Fills a database with accounts and API keys in Keyreeve's formats, and writes the pool of keys for the load generator.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { systemClock } from '../packages/server/src/foundation/clock.ts';
import { databaseUrl as parseDatabaseUrl } from '../packages/server/src/app/configuration/config-values.ts';
import { deriveKeys, type InstallationKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { lookupOf } from '../packages/server/src/foundation/crypto/keyed-hash.ts';
import { PasswordHasher } from '../packages/server/src/foundation/crypto/password.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import { claimFixedInstallation } from '../packages/server/test-kit/installation.ts';
import { migrate } from '../packages/server/src/foundation/database/migrate.ts';
import type { Pool } from './request.ts';
import { PostgresRows } from './seed-postgres.ts';
import type { Rows } from './seed-rows.ts';
import { SqliteRows } from './seed-sqlite.ts';

export interface Seeded {
  readonly databaseUrl: string;
  /** Encoded as base64url. */
  readonly masterKey: string;
  /** Keys of accounts without sign-ins, so none of them is deleted. */
  readonly keys: Pool;
  /** Has the scope `keyreeve:verify`. */
  readonly serviceKey: string;
  readonly accounts: number;
}

export const password = 'correct horse battery staple';
export const keysPerAccount = 100;
/** Number of accounts, the first ones, that sign in to create and delete keys. */
export const signedInAccounts = 200;
const poolKeysMax = 1_000_000;
const keyBytes = 53;
const serviceKeyId = 9_007_199_254_740_991;
/** All ids have the same number of digits. */
const firstKeyId = 1_000_000_000_000_000;
export const keyIdBytes = 16;

/** @param index of a seeded key */
export const keyIdAt = (index: number): number => firstKeyId + index * 7_919;
export const emailAt = (account: number): string => `bench${String(account).padStart(7, '0')}@example.com`;

/** @param databaseUrl of a missing or empty database */
export async function seed(databaseUrl: string, poolPath: string, keys: number): Promise<Seeded> {
  const masterKey = randomBytes(32);
  const installation = deriveKeys(masterKey);
  const parsed = parseDatabaseUrl(databaseUrl);
  const db = await openDatabase(parsed, installation.auditChain);
  await migrate(db, systemClock);
  await claimFixedInstallation(db, masterKey, systemClock.now());
  await db.close();

  const rows: Rows = parsed.kind === 'sqlite' ? new SqliteRows(parsed.path) : await PostgresRows.open(databaseUrl);
  const accounts = signedInAccounts + Math.ceil(keys / keysPerAccount);
  // All accounts share one hash, which does not affect the cost of a sign-in.
  const passwordHash = await new PasswordHasher(installation.passwordPeppers).hash(password);
  for (let pk = 1; pk <= accounts; pk++) {
    const digest = createHash('sha256').update(String(pk)).digest('base64url').replaceAll(/[-_]/g, 'x');
    await rows.account({ pk, id: `acc_${digest.slice(0, 22)}`, email: emailAt(pk), passwordHash });
  }
  const pool = openSync(poolPath, 'w');
  const deletableKeys = signedInAccounts * keysPerAccount;
  const step = Math.ceil(keys / poolKeysMax);
  let texts = '';
  for (let index = 0; index < deletableKeys + keys; index++) {
    const text = await addKey(rows, installation, index);
    if (index >= deletableKeys && (index - deletableKeys) % step === 0) texts += text;
    if (texts.length > 1_000_000) texts = write(pool, texts);
  }
  write(pool, texts);
  closeSync(pool);
  const serviceKey = makeKey('krv').reveal();
  const hash = installation.apiKeyHash.stored(serviceKey);
  const service = { id: serviceKeyId, accountPk: 1, nickname: 'service', scopes: 'keyreeve:verify' };
  await rows.key({ lookup: lookupOf(hash), hash, ...service });
  await rows.finish();
  return {
    databaseUrl,
    masterKey: masterKey.toString('base64url'),
    keys: { path: poolPath, recordBytes: keyBytes, draw: 'random' },
    serviceKey,
    accounts,
  };
}

async function addKey(rows: Rows, installation: InstallationKeys, index: number): Promise<string> {
  const text = makeKey('krv').reveal();
  const hash = installation.apiKeyHash.stored(text);
  const accountPk = Math.floor(index / keysPerAccount) + 1;
  const nickname = `key ${index % keysPerAccount}`;
  const added = rows.key({ lookup: lookupOf(hash), hash, id: keyIdAt(index), accountPk, nickname, scopes: '' });
  if (added) await added;
  return text;
}

function write(file: number, texts: string): '' {
  writeSync(file, texts);
  return '';
}
