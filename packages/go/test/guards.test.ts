/** The Go guard answers as the table of all client libraries says. */
import { after, before, test } from 'node:test';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildProgram, skip } from './go.ts';

const folder = newTempFolder();
let program: LibraryProgram | undefined;
before(async () => {
  if (skip === false) program = new LibraryProgram(await buildProgram(folder.path));
});
after(async () => {
  await program?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const started = (): LibraryProgram => {
  if (!program) throw new Error('the program has not been built');
  return program;
};

test('the Go guard gives the response of the table', { skip }, () => checkReplayedCases(started(), 'net/http'));

onEachDatabase('the Go guard gives the response of the table with a real service', { skip }, async () => {
  await using service = await startRealService();
  await checkRealCases(started(), 'net/http', service);
});
