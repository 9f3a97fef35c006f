/** The guards of all frameworks answer as the table of all client libraries says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors, type ErrorCode } from '@keyreeve/contract';
import { testGuards } from '../../conformance/check-library.ts';
import { guardTable } from '../../conformance/guard-table.ts';
import { newCheck } from '../src/check.ts';
import { applications } from './applications.ts';

test('the problem documents of the table are those of the service', () => {
  for (const [code, { status, title, detail }] of Object.entries(guardTable.problems)) {
    const definition = errors[code as ErrorCode];
    assert.deepEqual({ status, title, detail }, { ...pick(definition), detail: definition.meaning }, code);
  }
});

const pick = ({ status, title }: { status: number; title: string }): { status: number; title: string } => ({
  status,
  title,
});

test('the check rejects headers that can lack a second credential, and options that the service rejects', async () => {
  const verifier = { verify: () => assert.fail('the credential is verified') };
  const check = newCheck(verifier);
  const ofNodeRequest = { authorization: 'Bearer krv_key' };
  await assert.rejects(check(ofNodeRequest as never), { name: 'TypeError', message: /^headers: expected/ });
  assert.throws(() => newCheck(verifier, { cost: -1 }), { name: 'TypeError', message: /^cost: expected/ });
});

const { express, ...others } = applications;
assert.ok(express);
// The guards of Hono and Next.js run on edge runtimes too.
testGuards(
  {
    language: 'TypeScript',
    skip: false,
    build: () => ({ command: process.execPath, args: [new URL('program.ts', import.meta.url).pathname] }),
  },
  ['express', ...Object.keys(others), 'hono over fetch', 'next over fetch'],
);
