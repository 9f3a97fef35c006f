/** Which environments the prefix of a key allows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeKey } from '../key-format.ts';
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
