/** The Go guard answers as the table of all client libraries says. */
import { test } from 'node:test';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildProgram, skip } from './go.ts';

test('the Go guard gives the response of the table', { skip }, async () => {
  using folder = newTempFolder();
  await using program = new LibraryProgram({ command: await buildProgram(folder.path), args: [] });
  await checkReplayedCases(program, 'net/http');
});

onEachDatabase('the Go guard gives the response of the table with a real service', { skip }, async () => {
  using folder = newTempFolder();
  await using service = await startRealService();
  await using program = new LibraryProgram({ command: await buildProgram(folder.path), args: [] });
  await checkRealCases(program, 'net/http', service);
});
