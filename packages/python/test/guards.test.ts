/** The Python guards answer as the table of all client libraries says. */
import { after, before, suite, test } from 'node:test';
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
let program: LibraryProgram | undefined;
before(() => {
  const command = { command: python, args: [`${packageFolder}test/program.py`], env: pythonEnvironment() };
  if (skip === false) program = new LibraryProgram(command);
});
after(() => program?.[Symbol.asyncDispose]());

const started = (): LibraryProgram => {
  if (!program) throw new Error('the program has not been started');
  return program;
};

suite('every Python guard gives the response of the table', () => {
  for (const framework of frameworks) test(framework, { skip }, () => checkReplayedCases(started(), framework));
});

onEachDatabase('every Python guard gives the response of the table with a real service', { skip }, async () => {
  await using service = await startRealService();
  for (const framework of frameworks) await checkRealCases(started(), framework, service);
});
