/** The guards of all frameworks answer as the table of all client libraries says. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errors, type ErrorCode } from '@keyreeve/contract';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { guardTable } from '../../conformance/guard-table.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { applications } from './applications.ts';

const startProgram = (transport: string): LibraryProgram =>
  new LibraryProgram({
    command: process.execPath,
    args: [new URL('program.ts', import.meta.url).pathname],
    env: { KEYREEVE_TRANSPORT: transport },
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

// Two cases of each take 3 s, in which the others run.
suite('every guard gives the response of the table', { concurrency: 2 }, () => {
  const rows = Object.keys(applications).map((framework) => ['node', framework] as const);
  // On edge runtimes.
  for (const [transport, framework] of [...rows, ['fetch', 'hono'], ['fetch', 'next']] as const)
    test(`${framework}, questions over ${transport}`, async () => {
      await using program = startProgram(transport);
      await checkReplayedCases(program, framework);
    });
});

onEachDatabase('every guard gives the response of the table with a real service', async () => {
  await using service = await startRealService();
  await using program = startProgram('node');
  for (const framework of Object.keys(applications)) await checkRealCases(program, framework, service);
});
