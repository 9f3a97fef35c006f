/** Names of prepared statements: different texts have different names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, sqlMany } from '../sql.ts';

test('statements with the same label and different texts have different prepared names', () => {
  const [one, two] = [sql('keep_session', 'select 1'), sql('keep_session', 'select 2')];
  assert.notEqual(one.preparedName, two.preparedName);
  assert.equal(sql('keep_session', 'select 1').preparedName, one.preparedName);
  const many = sqlMany('keep_session', { sqlite: 'select 1', postgres: 'select 3' });
  assert.notEqual(many.preparedName, one.preparedName);
});

test('a prepared name fits into an identifier of PostgreSQL for any length of the label', () => {
  const label = 'a'.repeat(100);
  const [one, two] = [sql(label, 'select 1'), sql(label, 'select 2')];
  assert.equal(Buffer.byteLength(one.preparedName), 63);
  assert.notEqual(one.preparedName, two.preparedName);
});
