/** Migration of a database with the first schema at the start of the program. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeKey } from '../../modules/api-keys/key-format.ts';
import { markedHash } from '../../modules/api-keys/stored-hash.ts';
import { verifyLog } from '../../modules/audit/verify-log.ts';
import { databaseUrl } from '../config-values.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import { deriveKeys } from '../../foundation/crypto/master-key.ts';
import { PasswordHasher } from '../../foundation/crypto/password.ts';
import { openDatabase } from '../../foundation/database/database.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql, type SqlValue } from '../../foundation/database/sql.ts';
import { basic, bearer, goodPassword, newApp } from '../../../test-kit/new-app.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { testOnBoth } from '../../../test-kit/app-on-each-database.ts';

const masterKey = randomBytes(32);
const keys = deriveKeys(masterKey);
const now = Date.UTC(2026, 9, 1);
const key = makeKey('krv').reveal();
const keyHash = keys.apiKeyHash.stored(key);
const restrictedKey = makeKey('krv').reveal();
const restrictedHash = markedHash(keys.apiKeyHash.stored(restrictedKey), {
  disabledAt: now,
  addresses: null,
  environment: null,
});

/** Creates what the first version of the program created. */
async function createFirstSchema(db: Db, tx: Transaction): Promise<void> {
  let statements = 0;
  const run = (text: string, values: readonly SqlValue[] = []): Promise<number> =>
    tx.run(sql(`test_first_schema_${++statements}`, text), values);
  const file = db.dialect === 'sqlite' ? '0001_foundation.sql' : '0001_foundation.postgres.sql';
  const text = readFileSync(new URL(`../../foundation/database/migrations/${file}`, import.meta.url), 'utf8');
  for (const statement of text.replaceAll(/--.*$/gm, '').split(';')) if (statement.trim() !== '') await run(statement);
  await run(`create table schema_migrations (version integer primary key, name text not null, checksum text not null,
    compatible_from integer not null, applied_at bigint not null)`);
  await run(`insert into schema_migrations values (1, '0001_foundation', $1, 1, ${now})`, [
    createHash('sha256').update(text).digest('hex'),
  ]);
  await run(`insert into installation (id, master_key_check, created_at) values (1, $1, ${now})`, [keys.check]);
  const passwordHash = await new PasswordHasher(keys.passwordPeppers).hash(goodPassword);
  for (const name of ['ada', 'bob']) {
    const disabledAt = name === 'bob' ? now : null;
    await run(
      `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at, disabled_at)
       values ('acc_${name}', '${name}@example.com', '${name}@example.com', $1, 'user', 0, ${now}, ${now}, $2)`,
      [passwordHash, disabledAt],
    );
    await run(`insert into audit_events (at, actor, action, account_id, details)
      values (${now}, 'operator', 'account.created', 'acc_${name}', '{"role":"user"}')`);
  }
  await run(
    `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at)
     values ($1, $2, 42, 1, 'laptop', 'a b', ${now}, ${now})`,
    [lookupOf(keyHash), keyHash],
  );
  // As after a restore by an earlier program, which leaves the restrictions out.
  await run(
    `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at)
     values ($1, $2, 43, 1, 'restricted', '', ${now}, ${now})`,
    [lookupOf(restrictedHash), restrictedHash],
  );
  await run(`insert into audit_events (at, actor, action, account_id, target, details)
    values (${now}, 'account:acc_ada', 'api_key.created', 'acc_ada', '42', '{"nickname":"laptop","scopes":["a","b"]}')`);
}

testOnBoth('accounts, keys and the audit log of the first schema work after the migration', async () => {
  await using place = await newPlace();
  const db = await openDatabase(databaseUrl(place.url), keys.auditChain);
  try {
    await db.transaction((tx) => createFirstSchema(db, tx), { isLong: true });
  } finally {
    await db.close();
  }

  const environment = { KEYREEVE_MASTER_KEY: masterKey.toString('base64url') };
  await using app = await newApp({ place, environment });
  assert.ok(app.logLines.some((line) => line.includes('"0002_account_life"')));
  const signIn = await app.call('POST', '/auth/token', { headers: basic('ada@example.com', goodPassword) });
  assert.equal(signIn.status, 200, signIn.text);
  const { accessToken } = signIn.json as { accessToken: string };
  const forward = await app.call('GET', '/auth/forward', { headers: bearer(key) });
  assert.deepEqual([forward.status, forward.headers.get('x-keyreeve-scopes')], [200, 'a b']);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(restrictedKey) })).status, 401);
  const restricted = await app.call('GET', '/auth/api-keys/43', { headers: bearer(accessToken) });
  assert.equal((restricted.json as { disabledReason: string }).disabledReason, 'restore');
  const disabled = await app.call('POST', '/auth/token', { headers: basic('bob@example.com', goodPassword) });
  assert.equal(disabled.status, 401);
  // Existing accounts count as verified, so they can create keys.
  const json = { nickname: 'new' };
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json });
  assert.equal(created.status, 201, created.text);
  const deleted = await app.call('DELETE', '/auth/api-keys/42', { headers: bearer(accessToken) });
  assert.equal(deleted.status, 200);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);

  const { findings, events, eventsBefore } = await app.db.snapshot((reader) => verifyLog(reader, keys, { now }));
  assert.deepEqual([findings, eventsBefore], [[], 3]);
  assert.ok(events >= 3);
});
