/**
 * Fills a database with accounts and API keys through the program's own formats and hashes, and writes what the load
 * generator draws from.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { systemClock } from '../packages/server/src/foundation/clock.ts';
import { databaseUrl as parseDatabaseUrl } from '../packages/server/src/app/config-values.ts';
import { deriveKeys, type InstallationKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { lookupOf } from '../packages/server/src/foundation/crypto/keyed-hash.ts';
import { PasswordHasher } from '../packages/server/src/foundation/crypto/password.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import { claimInstallation } from '../packages/server/src/foundation/database/installation.ts';
import { migrate } from '../packages/server/src/foundation/database/migrate.ts';
import type { Pool } from './request.ts';
import { PostgresRows } from './seed-postgres.ts';
import { SqliteRows } from './seed-sqlite.ts';

export interface Seeded {
  readonly databaseUrl: string;
  /** base64url. */
  readonly masterKey: string;
  /** Of accounts that nobody signs in to: no key of them is deleted. */
  readonly keys: Pool;
  /** May ask about others. */
  readonly serviceKey: string;
  readonly accounts: number;
}

export interface AccountRow {
  readonly pk: number;
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
}

export interface KeyRow {
  readonly lookup: number;
  readonly hash: Buffer;
  readonly id: number;
  readonly accountPk: number;
  readonly nickname: string;
  readonly scopes: string;
}

/** Puts rows into one kind of database, as fast as it goes. */
export interface Rows {
  account(row: AccountRow): Promise<void> | void;
  key(row: KeyRow): Promise<void> | void;
  /** Everything is in the tables, and the planner knows it. */
  finish(): Promise<void>;
}

export const password = 'correct horse battery staple';
export const keysPerAccount = 100;
/** Of these, the first, keys are made and deleted. */
export const signedInAccounts = 200;
const poolKeysMax = 1_000_000;
const keyBytes = 53;
const serviceKeyId = 9_007_199_254_740_991;
/** Ids have one length. */
const firstKeyId = 1_000_000_000_000_000;
export const keyIdBytes = 16;

/** Of the key with this index. */
export const keyIdAt = (index: number): number => firstKeyId + index * 7_919;
export const emailAt = (account: number): string => `bench${String(account).padStart(7, '0')}@example.com`;

/** @param databaseUrl of a database that doesn't exist yet, or has nothing in it */
export async function seed(databaseUrl: string, poolPath: string, keys: number): Promise<Seeded> {
  const masterKey = randomBytes(32);
  const installation = deriveKeys(masterKey);
  const address = parseDatabaseUrl(databaseUrl);
  const db = await openDatabase(address, installation.auditChain);
  await migrate(db, systemClock);
  await claimInstallation(db, installation.check, systemClock.now());
  await db.close();

  const rows: Rows = address.kind === 'sqlite' ? new SqliteRows(address.path) : await PostgresRows.open(databaseUrl);
  const accounts = signedInAccounts + Math.ceil(keys / keysPerAccount);
  // One hash for all: what a sign-in costs doesn't depend on it.
  const passwordHash = await new PasswordHasher(installation.passwordPepper).hash(password);
  for (let pk = 1; pk <= accounts; pk++) {
    const digest = createHash('sha256').update(String(pk)).digest('base64url').replaceAll(/[-_]/g, 'x');
    await rows.account({ pk, id: `acc_${digest.slice(0, 22)}`, email: emailAt(pk), passwordHash });
  }
  const pool = openSync(poolPath, 'w');
  const spares = signedInAccounts * keysPerAccount;
  const step = Math.ceil(keys / poolKeysMax);
  let texts = '';
  for (let index = 0; index < spares + keys; index++) {
    const text = await addKey(rows, installation, index);
    if (index >= spares && (index - spares) % step === 0) texts += text;
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
