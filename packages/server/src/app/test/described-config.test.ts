/** How settings are shown: without secrets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfig } from '../configuration/config.ts';

test('the description of a database URL never contains the password', () => {
  const described = (url: string): string | undefined =>
    describeConfig({ KEYREEVE_DATABASE_URL: url }).find(({ name }) => name === 'KEYREEVE_DATABASE_URL')?.value;
  assert.equal(described('postgres://keyreeve:secret@db/auth?sslmode=require'), 'postgres://keyreeve@db:5432/auth');
  assert.equal(described('postgres://keyreeve:secret@/auth?host=/run'), 'postgres://keyreeve@/auth?host=/run');
  assert.equal(described('postgres://keyreeve:secret@a,[::1]:1/auth'), 'postgres://keyreeve@a:5432,[::1]:1/auth');
  assert.equal(described('sqlite:a.db'), 'sqlite:a.db');
  assert.equal(described('postgres://keyreeve:secret@db'), '[redacted]');
});
