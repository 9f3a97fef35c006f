/**
 * The program of the newest frozen release and this one on a database: before, after and beside each other (docs/upgrade.md). Until
 * the first release is frozen, the program of the checkout is the earlier one, and the same with a further migration the later one.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { releases } from '../../src/foundation/database/releases.ts';
import { newLaterProgram, type LaterProgram } from '../../test-kit/later-migration.ts';
import { databaseKinds, newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { isFrozen, unpackProgram } from './baseline.ts';
import { assertCredentials, createCredentials, endSome, type Call } from './every-credential.ts';
import { keyreeveBin, runProcess, startProgram, type Environment, type Program } from './program.ts';

const callsOf =
  (program: Program): Call =>
  (...request) =>
    program.call(...request);

suite('an upgrade from the newest release', () => {
  let folder: TempFolder;
  let later: LaterProgram | undefined;
  let bins: { readonly earlier: string; readonly newer: string };
  before(() => {
    folder = newTempFolder();
    later = isFrozen ? undefined : newLaterProgram();
    bins = { earlier: isFrozen ? unpackProgram(folder.path) : keyreeveBin, newer: later?.bin ?? keyreeveBin };
  });
  after(() => {
    folder[Symbol.dispose]();
    later?.[Symbol.dispose]();
  });

  for (const kind of databaseKinds)
    test(`live credentials are accepted and ended ones rejected, before, after and by a restore (${kind})`, async () => {
      using data = newTempFolder();
      await using place = await newPlace(kind);
      const environment: Environment = {
        ...place.environment,
        KEYREEVE_MASTER_KEY: Buffer.alloc(32, 6).toString('base64url'),
        KEYREEVE_DELETION_JOURNAL: join(data.path, 'journal'),
        // The same wrong sign-ins are repeated.
        KEYREEVE_THROTTLE: 'off',
        // Both accept access tokens of the same issuer.
        KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
      };
      const start = (bin: string, more: Environment = {}) =>
        startProgram(data.path, { ...environment, ...more }, [bin, 'serve']);
      const run = (bin: string, line: string, more: Environment = {}) =>
        runProcess(line.split(' '), { bin, folder: data.path, environment: { ...environment, ...more } });
      const backup = join(data.path, 'backup.jsonl');

      await using earlier = await start(bins.earlier);
      const { credentials, later: ended } = await createCredentials(earlier);
      await assertCredentials(callsOf(earlier), credentials, { isReadOnly: true });
      const made = await run(bins.earlier, `backup --to ${backup}`);
      assert.equal(made.status, 0, made.stderr);
      // On PostgreSQL, the newer one migrates the schema below the running earlier one.
      if (kind === 'sqlite') await earlier.stop();
      await using newer = await start(bins.newer);
      if (later)
        assert.deepEqual(
          newer.records('migrated').map(({ migrations }) => migrations),
          [later.missing],
        );
      await assertCredentials(callsOf(newer), credentials, { isReadOnly: true });
      await endSome(newer, credentials, ended);
      await assertCredentials(callsOf(newer), credentials);
      if (kind === 'postgres') await assertCredentials(callsOf(earlier), credentials);
      const doctor = await run(bins.newer, 'doctor --json');
      const { schema } = JSON.parse(doctor.stdout) as { schema: { oldestRelease: string } };
      assert.equal(schema.oldestRelease, releases.find(({ schema: known }) => known >= 1)?.name);
      for (const program of kind === 'sqlite' ? [newer] : [newer, earlier])
        assert.equal((await program.stop()).status, 0);

      // The return to the earlier version.
      await using again = await start(bins.earlier);
      await assertCredentials(callsOf(again), credentials);
      assert.deepEqual(again.records('migrated'), []);
      assert.deepEqual(
        [again, newer].flatMap((program) => program.records('crashed')),
        [],
      );
      assert.equal((await again.stop()).status, 0);

      // The backup from before the upgrade, and the deletion journal of both.
      await using target = await newPlace(kind);
      const elsewhere = { KEYREEVE_DATABASE_URL: target.url };
      const restored = await run(bins.newer, `restore --from ${backup} --yes`, elsewhere);
      assert.equal(restored.status, 0, restored.stderr);
      await using restarted = await start(bins.newer, elsewhere);
      await assertCredentials(callsOf(restarted), credentials, { areSessionsEnded: true });
    });
});
