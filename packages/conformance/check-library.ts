/** The tests of a client library against the tables and the revocation check. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { test as onEachDatabase } from '../server/test-kit/app-on-each-database.ts';
import { newTempFolder } from '../server/test-kit/temp-folder.ts';
import { checkBatches, startBatchService, type BatchService } from './check-batches.ts';
import { checkRealCases, checkReplayedCases } from './check-guards.ts';
import { loginRules } from './check-device-login.ts';
import { checkRealExchange, exchangeRules } from './check-exchange.ts';
import { checkManagement } from './check-management.ts';
import { checkRealLogin } from './check-real-login.ts';
import type { LibraryMutant } from './library-mutants.ts';
import { LibraryProgram, type Command } from './library-program.ts';
import { startRealService } from './real-service.ts';
import { findViolation, runRevocationCheckOn } from './revocation-run.ts';

export interface TestedLibrary {
  readonly language: string;
  /** Why the tests are skipped; false where they are not. */
  readonly skip: string | false;
  /** @param folder for files of the build @param mutant a broken build */
  readonly build: (folder: string, mutant?: LibraryMutant) => Command | Promise<Command>;
}

/** @param frameworks with a guard; the first one has a guard for each batch */
export function testGuards({ language, skip, build }: TestedLibrary, frameworks: readonly [string, ...string[]]): void {
  const folder = newTempFolder();
  let service: BatchService;
  let program: LibraryProgram | undefined;
  // One program for all frameworks: its start takes seconds.
  before(async () => {
    service = await startBatchService();
    if (skip !== false) return;
    const command = await build(folder.path);
    program = new LibraryProgram({ ...command, env: { ...command.env, ...service.env } });
  });
  after(async () => {
    await program?.[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });
  const started = (): LibraryProgram => program ?? assert.fail('the program has not been started');

  suite(`every ${language} guard gives the response of the table`, () => {
    for (const framework of frameworks) test(framework, { skip }, () => checkReplayedCases(started(), framework));
  });

  test(`questions share the fate of a batch as the table says (${language})`, { skip }, () =>
    checkBatches(started(), frameworks[0], service),
  );

  suite(`sources of short-lived secrets keep the rules (${language})`, () => {
    for (const { name, check } of exchangeRules) test(name, { skip }, () => check(started()));
  });

  suite(`sign-ins from a command line keep the rules (${language})`, () => {
    for (const { name, check } of loginRules) test(name, { skip }, () => check(started()));
  });

  onEachDatabase(
    `the ${language} guards, management, exchange and sign-in do what the tables say with a real service`,
    { skip },
    async () => {
      await using real = await startRealService();
      for (const framework of frameworks) await checkRealCases(started(), framework, real);
      await checkManagement(started(), real.app);
      await checkRealExchange(started());
      await checkRealLogin(started());
    },
  );
}

/** The revocation check passes on the library, and detects builds of it that accept deleted keys. */
export function testRevocation({ skip, build }: TestedLibrary, mutants: readonly LibraryMutant[]): void {
  test('a key that was deleted before a verification is refused', { skip }, async () => {
    using folder = newTempFolder();
    const { result, verifications } = await runRevocationCheckOn(await build(folder.path));
    assert.deepEqual([result.reason, result.report?.examples], [null, []]);
    assert.ok(verifications > 100, `${verifications}`);
  });

  for (const mutant of mutants.filter(({ isUnsafe }) => isUnsafe))
    test(`the revocation check detects: ${mutant.name}`, { skip }, async () => {
      using folder = newTempFolder();
      const { violations } = await findViolation(await build(folder.path, mutant));
      assert.ok(violations > 0);
    });
}
