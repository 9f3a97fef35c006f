/**
 * Fills a database, and writes the pool of its keys for the load generator. It runs as a separate process, also in a copy of an
 * earlier commit, whose schema and formats it then uses. Prints one line of JSON.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { databaseUrl as parseDatabaseUrl } from '../packages/server/src/app/configuration/config-values.ts';
import { systemClock } from '../packages/server/src/foundation/clock.ts';
import { lookupOf } from '../packages/server/src/foundation/crypto/keyed-hash.ts';
import { deriveKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { PasswordHasher } from '../packages/server/src/foundation/crypto/password.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import { migrate } from '../packages/server/src/foundation/database/migrate.ts';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { claimFixedInstallation } from '../packages/server/test-kit/installation.ts';
import { PostgresRows } from './seed-postgres.ts';
import { SqliteRows } from './seed-sqlite.ts';
import {
  emailAt,
  keyIdAt,
  keysPerAccount,
  password,
  signedInAccounts,
  type Rows,
  type Seeded,
  type SeedOptions,
} from './seeded.ts';

const poolKeysMax = 1_000_000;
const keyBytes = 53;
const serviceKeyId = 9_007_199_254_740_991;

const { databaseUrl, poolPath, keys, hasDeletableKeys = true } = JSON.parse(process.argv[2] ?? '{}') as SeedOptions;
const deletableKeys = hasDeletableKeys ? signedInAccounts * keysPerAccount : 0;
const masterKey = randomBytes(32);
const installation = deriveKeys(masterKey);
const parsed = parseDatabaseUrl(databaseUrl);
const accounts = signedInAccounts + Math.ceil(keys / keysPerAccount);

async function createInstallation(): Promise<void> {
  const db = await openDatabase(parsed, installation.auditChain);
  await migrate(db, systemClock);
  await claimFixedInstallation(db, masterKey, systemClock.now());
  await db.close();
}

async function addAccounts(rows: Rows): Promise<void> {
  // All accounts share one hash, which does not affect the cost of a sign-in.
  const passwordHash = await new PasswordHasher(installation.passwordPeppers).hash(password);
  for (let pk = 1; pk <= accounts; pk++) {
    const digest = createHash('sha256').update(String(pk)).digest('base64url').replaceAll(/[-_]/g, 'x');
    await rows.account({ pk, id: `acc_${digest.slice(0, 22)}`, email: emailAt(pk), passwordHash });
  }
}

/** @returns the text of the key */
async function addKey(rows: Rows, key: { id: number; accountPk: number; nickname: string; scopes: string }) {
  const text = makeKey('krv').reveal();
  const hash = installation.apiKeyHash.stored(text);
  const added = rows.key({ lookup: lookupOf(hash), hash, ...key });
  if (added) await added;
  return text;
}

async function addKeys(rows: Rows): Promise<void> {
  const pool = openSync(poolPath, 'w');
  const step = Math.ceil(keys / poolKeysMax);
  let texts = '';
  for (let index = 0; index < deletableKeys + keys; index++) {
    const accountPk = Math.floor(index / keysPerAccount) + 1;
    const nickname = `key ${index % keysPerAccount}`;
    const text = await addKey(rows, { id: keyIdAt(index), accountPk, nickname, scopes: '' });
    if (index >= deletableKeys && (index - deletableKeys) % step === 0) texts += text;
    if (texts.length < 1_000_000) continue;
    writeSync(pool, texts);
    texts = '';
  }
  writeSync(pool, texts);
  closeSync(pool);
}

await createInstallation();
const rows: Rows = parsed.kind === 'sqlite' ? new SqliteRows(parsed.path) : await PostgresRows.open(databaseUrl);
await addAccounts(rows);
await addKeys(rows);
const service = { id: serviceKeyId, accountPk: 1, nickname: 'service', scopes: 'keyreeve:verify' };
const serviceKey = await addKey(rows, service);
await rows.finish();
const seeded: Seeded = {
  databaseUrl,
  masterKey: masterKey.toString('base64url'),
  keys: { path: poolPath, recordBytes: keyBytes },
  serviceKey,
  accounts,
};
console.log(JSON.stringify(seeded));
