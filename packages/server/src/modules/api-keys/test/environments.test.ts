/** Which environments the prefix of a key allows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../../foundation/database/sql.ts';
import { test as onEach } from '../../../../test-kit/app-on-each-database.ts';
import { newApp, operator } from '../../../../test-kit/new-app.ts';
import { hintOf, makeKey } from '../key-format.ts';
import { Environments } from '../environments.ts';

test('a key with the prefix of a further environment is valid in no other', () => {
  const of = new Environments(
    [
      { name: 'live', prefix: 'acme_live' },
      { name: 'test', prefix: 'acme_test' },
    ],
    'krv',
  );
  const keyOf = (prefix: string): string => makeKey(prefix).reveal();
  const accepted = ['live', 'test'];
  assert.deepEqual(of.allowedBy(keyOf('acme_test'), accepted), ['test']);
  assert.deepEqual(of.allowedBy(keyOf('acme_test'), ['live']), []);
  for (const prefix of ['acme_live', 'krv', 'acme']) assert.equal(of.allowedBy(keyOf(prefix), accepted), accepted);
});

test('a key whose prefix belongs to a further environment gets no secret of the first one', () => {
  const of = new Environments(
    [
      { name: 'live', prefix: 'acme_live' },
      { name: 'test', prefix: 'acme_test' },
    ],
    'krv',
  );
  const hint = (prefix: string): string => hintOf(makeKey(prefix));
  assert.throws(() => of.prefixOfNext({ environment: null, hint: hint('acme_test') }), { code: 'invalid_request' });
  assert.equal(of.prefixOfNext({ environment: 'test', hint: hint('acme_test') }), 'acme_test');
  for (const known of [hint('acme_live'), hint('krv'), hint('acme'), null])
    assert.equal(of.prefixOfNext({ environment: null, hint: known }), 'acme_live');
});

onEach('a key that lost its environment cannot be rotated, and stays as it is', async () => {
  await using app = await newApp({ environment: { KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test' } });
  const { id: accountId } = await app.createAccount();
  const { apiKeys, keyChanges } = app.service.services;
  const { id } = await apiKeys.create(operator, accountId, { nickname: 'ci', environment: 'test' });
  const rotate = () => keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
  assert.match((await rotate()).secret.reveal(), /^acme_test_/);
  // As a restore by version 0.1.0.
  await app.db.transaction((tx) => tx.run(sql('test_lose_environment', 'update api_keys set environment = null')));
  const { revision } = await keyChanges.read(accountId, id);
  await assert.rejects(rotate(), { code: 'invalid_request' });
  assert.equal((await keyChanges.read(accountId, id)).revision, revision);
});
