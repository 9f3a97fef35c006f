/** The guards of all frameworks answer as the table of all client libraries says. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { errors, type ErrorCode } from '@keyreeve/contract';
import { checkBatches, startBatchService, type BatchService } from '../../conformance/check-batches.ts';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { guardTable } from '../../conformance/guard-table.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { applications } from './applications.ts';

// The guards of Hono and Next.js run on edge runtimes too.
const frameworks = [...Object.keys(applications), 'hono over fetch', 'next over fetch'];

let service: BatchService;
let program: LibraryProgram;
before(async () => {
  service = await startBatchService();
  program = new LibraryProgram({
    command: process.execPath,
    args: [new URL('program.ts', import.meta.url).pathname],
    env: service.env,
  });
});
after(async () => {
  await program[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

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

suite('every guard gives the response of the table', () => {
  for (const framework of frameworks) test(framework, () => checkReplayedCases(program, framework));
});

test('questions share the fate of a batch as the table says', () => checkBatches(program, 'express', service));

onEachDatabase('every guard gives the response of the table with a real service', async () => {
  await using real = await startRealService();
  for (const framework of frameworks) await checkRealCases(program, framework, real);
});
