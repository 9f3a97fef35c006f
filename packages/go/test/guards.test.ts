/** The Go guard answers as the table of all client libraries says. */
import { after, before, test } from 'node:test';
import { checkBatches, startBatchService, type BatchService } from '../../conformance/check-batches.ts';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildProgram, skip } from './go.ts';

const folder = newTempFolder();
let service: BatchService;
let program: LibraryProgram | undefined;
before(async () => {
  service = await startBatchService();
  if (skip !== false) return;
  const command = await buildProgram(folder.path);
  program = new LibraryProgram({ ...command, env: { ...command.env, ...service.env } });
});
after(async () => {
  await program?.[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const started = (): LibraryProgram => {
  if (!program) throw new Error('the program has not been built');
  return program;
};

test('the Go guard gives the response of the table', { skip }, () => checkReplayedCases(started(), 'net/http'));

test('questions share the fate of a batch as the table says (Go)', { skip }, () =>
  checkBatches(started(), 'net/http', service),
);

onEachDatabase('the Go guard gives the response of the table with a real service', { skip }, async () => {
  await using real = await startRealService();
  await checkRealCases(started(), 'net/http', real);
});
