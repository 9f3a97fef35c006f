/** Who may act for which account. */
import assert from 'node:assert/strict';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { rulesVersion } from '../../../foundation/database/key-rules.ts';
import { sql } from '../../../foundation/database/sql.ts';
import type { Principal } from '../../../foundation/principal.ts';
import { addAccount, addKey, addServiceAccount, addSession, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { assertMayActFor, assertMayActForTx } from '../acting.ts';
import { manageScope } from '../acting-store.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

const removeManager = sql('test_remove_managers', `delete from service_account_managers`);
const setExpiry = sql('test_expire_key', `update api_keys set expires_at = $2 where id = $1`);
const setScopes = sql('test_set_scopes', `update api_keys set scopes = $2 where id = $1`);
const setDisabled = sql('test_disable_key', `update api_keys set disabled_at = $2 where id = $1`);
const setRules = sql('test_set_rules', `update api_keys set rules = $2 where id = $1`);
const deleteKey = sql('test_delete_key', `delete from api_keys where id = $1`);

const setLookup = sql('test_set_lookup', `update api_keys set lookup = $2 where id = $1`);
const setAddresses = sql('test_set_addresses', `update api_keys set addresses = $2 where id = $1`);
const insertSecret = sql(
  'test_insert_secret',
  `insert into api_key_secrets (lookup, key_hash, key_id, expires_at)
   select $2, key_hash, id, $3 from api_keys where id = $1`,
);
const endSecret = sql('test_end_secret', `update api_key_secrets set expires_at = 1 where key_id = $1`);

const run = (db: Db, statement: typeof setExpiry, ...values: (string | number)[]): Promise<number> =>
  db.transaction((tx) => tx.run(statement, values));
const outcome = (done: Promise<unknown>): Promise<unknown> => done.then(() => 'allowed', codeOf);

async function fixture(db: Db) {
  const [ada, eve] = [await addAccount(db), await addAccount(db, 'eve')];
  const service = await addServiceAccount(db, [ada]);
  for (const id of [ada, eve]) await addSession(db, id, id);
  const { id: keyId, hash } = await addKey(db, ada, 'backend', { scopes: ['reports:read', manageScope] });
  const account = (id: string) => ({ kind: 'account', accountId: id, sessionId: `ses_${id}` }) as const;
  const key = { kind: 'key', keyId, accountId: ada, lookup: lookupOf(hash), addresses: null } as const;
  const mayActTx = (principal: Principal, accountId: string, at = now): Promise<unknown> =>
    outcome(db.transaction((tx) => assertMayActForTx(tx, principal, accountId, at)));
  const mayAct = async (principal: Principal, accountId: string): Promise<unknown[]> => [
    await mayActTx(principal, accountId),
    await outcome(assertMayActFor(db, principal, accountId)),
  ];
  return { ada, eve, service, key, keyId, account, mayAct, mayActTx };
}

onEachDatabase(
  'an account acts for itself and for what it manages, a management key only for the latter',
  async ({ db }) => {
    const { ada, eve, service, key, account, mayAct } = await fixture(db);
    const [allowed, hidden] = [
      ['allowed', 'allowed'],
      ['account_not_found', 'account_not_found'],
    ];
    assert.deepEqual(await mayAct(account(ada), ada), allowed);
    assert.deepEqual(await mayAct(account(ada), service), allowed);
    assert.deepEqual(await mayAct(key, service), allowed);
    assert.deepEqual(await mayAct(operator, service), allowed);
    assert.deepEqual(await mayAct(account(ada), eve), hidden);
    assert.deepEqual(await mayAct(account(eve), service), hidden);
    assert.deepEqual(await mayAct(account(eve), 'acc_unknown'), hidden);
    for (const accountId of [ada, eve, 'acc_unknown']) assert.deepEqual(await mayAct(key, accountId), hidden);
    await run(db, removeManager);
    for (const principal of [account(ada), key]) assert.deepEqual(await mayAct(principal, service), hidden);
  },
);

onEachDatabase('a transaction rejects a management key that is no longer valid', async ({ db }) => {
  const { service, key, keyId, mayActTx, ada } = await fixture(db);
  const later = now + 10 ** 12;
  assert.equal(await mayActTx(key, service, later), 'allowed');
  assert.equal(await mayActTx({ ...key, accountId: service }, service), 'invalid_management_key');
  await run(db, setExpiry, keyId, later + 1);
  assert.equal(await mayActTx(key, service, later), 'allowed');
  assert.equal(await mayActTx(key, service, later + 1), 'invalid_management_key');
  for (const scopes of ['', 'reports:read', `x${manageScope}`, `${manageScope}:x`]) {
    await run(db, setScopes, keyId, scopes);
    assert.equal(await mayActTx(key, service), 'invalid_management_key', scopes);
  }
  await run(db, setScopes, keyId, manageScope);
  await run(db, setRules, keyId, rulesVersion + 1);
  assert.equal(await mayActTx(key, service), 'invalid_management_key', 'a later release judges the key');
  await run(db, setRules, keyId, rulesVersion);
  assert.equal(await mayActTx(key, service), 'allowed');
  await disableAccount(db, { principal: operator, now }, ada);
  assert.equal(await mayActTx(key, service), 'invalid_management_key');
});

onEachDatabase('a transaction rejects a disabled and a deleted management key', async ({ db }) => {
  const { service, key, keyId, mayActTx } = await fixture(db);
  await run(db, setDisabled, keyId, now);
  assert.equal(await mayActTx(key, service), 'invalid_management_key');
  await run(db, deleteKey, keyId);
  assert.equal(await mayActTx(key, service), 'invalid_management_key');
});

onEachDatabase('a transaction rejects a management key whose secret or IP ranges have changed', async ({ db }) => {
  const { service, key, keyId, mayActTx } = await fixture(db);
  const { lookup } = key;
  await run(db, setLookup, keyId, lookup - 1);
  assert.equal(await mayActTx(key, service), 'invalid_management_key');
  await run(db, insertSecret, keyId, lookup, now + 10 ** 12);
  assert.equal(await mayActTx(key, service), 'allowed', 'the previous secret in its overlap');
  await run(db, endSecret, keyId);
  assert.equal(await mayActTx(key, service), 'invalid_management_key');
  const current = { ...key, lookup: lookup - 1 };
  assert.equal(await mayActTx(current, service), 'allowed');
  await run(db, setAddresses, keyId, '192.0.2.0/24');
  assert.equal(await mayActTx(current, service), 'invalid_management_key');
  assert.equal(await mayActTx({ ...current, addresses: '192.0.2.0/24' }, service), 'allowed');
});
