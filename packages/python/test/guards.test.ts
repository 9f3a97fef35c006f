/** The Python guards answer as the table of all client libraries says. */
import { after, before, suite, test } from 'node:test';
import { checkBatches, startBatchService, type BatchService } from '../../conformance/check-batches.ts';
import { checkRealCases, checkReplayedCases } from '../../conformance/check-guards.ts';
import { LibraryProgram } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { test as onEachDatabase } from '../../server/test-kit/app-on-each-database.ts';
import { packageFolder, python, pythonEnvironment, skip } from './python.ts';

const frameworks = [
  'fastapi',
  'asgi',
  'wsgi',
  'django',
  'django-async',
  'django-middleware',
  'django-middleware-async',
];

// Starting it imports all frameworks, which takes seconds.
let service: BatchService;
let program: LibraryProgram | undefined;
before(async () => {
  service = await startBatchService();
  const env = { ...pythonEnvironment(), ...service.env };
  const command = { command: python, args: [`${packageFolder}test/program.py`], env };
  if (skip === false) program = new LibraryProgram(command);
});
after(async () => {
  await program?.[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const started = (): LibraryProgram => {
  if (!program) throw new Error('the program has not been started');
  return program;
};

suite('every Python guard gives the response of the table', () => {
  for (const framework of frameworks) test(framework, { skip }, () => checkReplayedCases(started(), framework));
});

test('questions share the fate of a batch as the table says (Python)', { skip }, () =>
  checkBatches(started(), 'wsgi', service),
);

onEachDatabase('every Python guard gives the response of the table with a real service', { skip }, async () => {
  await using real = await startRealService();
  for (const framework of frameworks) await checkRealCases(started(), framework, real);
});
