/** An authority that no connection to the database would use is an error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../configuration/config.ts';

const withAuthority = (url: string) => ({
  KEYREEVE_DATABASE_CA: '/ca.pem',
  KEYREEVE_DATABASE_URL: url,
  KEYREEVE_MASTER_KEY: 'A'.repeat(43),
});
const error =
  'KEYREEVE_DATABASE_CA can be set only with PostgreSQL, and the sslmode verify-full or verify-ca in KEYREEVE_DATABASE_URL';

test('a private authority is accepted only for a database whose certificate is verified', () => {
  for (const url of ['postgres://keyreeve@db/auth', 'postgres://keyreeve@db/auth?sslmode=verify-ca'])
    assert.equal(readConfig(withAuthority(url)).databaseCa, '/ca.pem');
  for (const url of [
    'sqlite:/a.db',
    'postgres://keyreeve@db/auth?sslmode=require',
    'postgres://keyreeve@127.0.0.1/auth',
  ])
    assert.throws(() => readConfig(withAuthority(url)), { mistakes: [error] }, url);
});
