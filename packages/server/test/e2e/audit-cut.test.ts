/** `keyreeve audit cut` and `audit export --then-forget`: an interruption loses nothing. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { databaseUrl } from '../../src/app/config-values.ts';
import { dayMs, systemClock, toInstant } from '../../src/foundation/clock.ts';
import { claimAsEarlier } from '../../test-kit/earlier-installation.ts';
import { deriveKeys } from '../../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import type { Db } from '../../src/foundation/database/db.ts';
import { recordEventsTx } from '../../src/modules/audit/audit.ts';
import { listCuts } from '../../src/modules/audit/cut-store.ts';
import { listEventsAfter } from '../../src/modules/audit/store.ts';
import { listAuditEvents } from '../../test-kit/audit-log.ts';
import { currentKind, databaseKinds, newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { killMidway } from './killed-command.ts';
import { runProgram, type Environment, type Exit } from './program.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

const masterKey = Buffer.alloc(32, 3);
const now = systemClock.now();
const until = toInstant(now - 35 * dayMs);

interface Installed extends AsyncDisposable {
  readonly db: Db;
  readonly folder: TempFolder;
  readonly environment: Environment;
  readonly run: (line: string, more?: Environment) => Promise<Exit>;
}

/** An installation with events of one account, by their ages in days. */
async function install(agesDays: readonly number[]): Promise<Installed> {
  const folder = newTempFolder();
  const place = await newPlace();
  const environment = {
    ...place.environment,
    KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
  };
  const run = (line: string, more: Environment = {}) =>
    runProgram(line.split(' '), { folder: folder.path, environment: { ...environment, ...more } });
  await claimAsEarlier(place, masterKey);
  const migrated = await run('migrate');
  assert.equal(migrated.status, 0, migrated.stderr);
  const db = await openDatabase(databaseUrl(place.url), deriveKeys(masterKey).auditChain);
  for (let from = 0; from < agesDays.length; from += 1_000)
    await db.transaction((tx) =>
      recordEventsTx(
        tx,
        agesDays.slice(from, from + 1_000).map((age) => ({
          at: now - age * dayMs,
          principal: { kind: 'operator' },
          action: 'account.enabled',
          accountId: 'acc_ada',
          target: 'acc_ada',
        })),
      ),
    );
  return {
    db,
    folder,
    environment,
    run,
    async [Symbol.asyncDispose]() {
      await db.close();
      await place[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const agesIn = async (db: Db): Promise<number[]> =>
  (await listAuditEvents(db)).filter(({ action }) => action !== 'audit.cut').map(({ at }) => (now - at) / dayMs);

/** The ids of the events that the test removes. */
const oldIdsIn = async (db: Db): Promise<number[]> =>
  (await listEventsAfter(db, { since: 0, until: Date.parse(until) }, 0, 100_000)).map(({ id }) => id);

const idsIn = (path: string): number[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id);

function assertFailed({ status, stdout, stderr }: Exit, expected: number, reason: RegExp): void {
  assert.deepEqual([status, stdout], [expected, ''], stderr);
  assert.match(stderr, reason);
}

for (const kind of databaseKinds) {
  test(`an export can forget what it has written, and a failed one forgets nothing (${kind})`, () =>
    currentKind.run(kind, async () => {
      await using installed = await install([60, 50, 40, 33, 20]);
      const { db, folder, run } = installed;
      const path = join(folder.path, 'old.jsonl');
      const forget = `audit export --until ${until} --then-forget --yes`;
      assertFailed(await run(forget), 64, /--then-forget needs --until and --output/);
      assertFailed(await run(`${forget} --output a --account acc_ada`), 64, /without --since and --account/);
      assertFailed(await run(`${forget} --output a --since 2020-01-01`), 64, /without --since and --account/);
      assertFailed(
        await run(`${forget} --output a`, { KEYREEVE_AUDIT_DAYS: '36' }),
        64,
        /audit events are kept for 36 days at least/,
      );
      assertFailed(await run(`${forget} --output none/a`), 1, /ENOENT/);
      writeFileSync(path, 'kept');
      assertFailed(await run(`${forget} --output old.jsonl`), 64, /old\.jsonl exists/);
      assert.equal(readFileSync(path, 'utf8'), 'kept');
      assert.deepEqual(await agesIn(db), [60, 50, 40, 33, 20]);
      assert.deepEqual(
        readdirSync(folder.path)
          .toSorted()
          .filter((name) => name.endsWith('.partial')),
        [],
      );

      // The newest event is 20 days old, so the clock may have jumped forward.
      const asking = `audit export --until ${until} --then-forget --output new.jsonl`;
      assertFailed(await run(asking), 64, /The clock of this machine shows .* add --yes/);
      assert.equal(existsSync(join(folder.path, 'new.jsonl')), false);
      assert.deepEqual(await agesIn(db), [60, 50, 40, 33, 20]);

      const exported = await run(`${forget} --output new.jsonl`);
      assert.deepEqual([exported.status, exported.stderr], [0, '']);
      assert.match(exported.stdout, /Removed 3 audit events\.\n$/);
      const lines = readFileSync(join(folder.path, 'new.jsonl'), 'utf8').trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => (now - Date.parse((JSON.parse(line) as { at: string }).at)) / dayMs),
        [60, 50, 40],
      );
      assert.deepEqual(await agesIn(db), [33, 20]);
      const verified = await run('audit verify');
      assert.deepEqual([verified.status, verified.stderr], [0, '']);
      assert.match(verified.stdout, /intact\.\nThe retention has removed 3 events from before /);
    }));
}

test(
  'an export to a full disk fails with the reason, leaves no file and forgets nothing',
  { skip: skipWithoutDisks() },
  async () => {
    using disk = new SmallDisk();
    await using installed = await install([60, 50, 20]);
    disk.fill();
    const output = join(disk.path, 'old.jsonl');
    assertFailed(
      await installed.run(`audit export --until ${until} --then-forget --yes --output ${output}`),
      1,
      /ENOSPC: no space left on device.* The disk is full: free space on it/,
    );
    assert.deepEqual(readdirSync(disk.path), ['filler']);
    assert.deepEqual(await agesIn(installed.db), [60, 50, 20]);
  },
);

for (const [step, isMidway] of [
  ['between the file and the first batch', async () => true],
  ['between two batches', async ({ db }: Installed) => (await listCuts(db)).length > 0],
] as const)
  test(`an export that is killed ${step} loses no event, and a repetition to another file completes it`, async () => {
    await using installed = await install([...Array.from({ length: 20_000 }, () => 60), 20]);
    const { db, folder, environment, run } = installed;
    const [first, second] = [join(folder.path, 'first.jsonl'), join(folder.path, 'second.jsonl')];
    const forget = ['audit', 'export', '--until', until, '--then-forget', '--yes', '--output'];
    await killMidway([...forget, first], {
      folder: folder.path,
      environment,
      isMidway: async () => existsSync(first) && isMidway(installed),
    });
    const exported = idsIn(first);
    assert.equal(exported.length, 20_000);
    const left = await oldIdsIn(db);
    assert.ok(left.length > 0, `${left.length}`);
    // The database has the newest of the exported events, and the file has the others.
    assert.deepEqual(left, exported.slice(exported.length - left.length));
    assert.equal((await run('audit verify')).status, 0);

    assertFailed(await run([...forget, first].join(' ')), 64, /first\.jsonl exists/);
    const repeated = await run([...forget, second].join(' '));
    assert.equal(repeated.status, 0, repeated.stderr);
    assert.deepEqual(idsIn(second), left);
    assert.deepEqual(await agesIn(db), [20]);
    assert.equal((await run('audit verify')).status, 0);
  });

test('a killed cut leaves a complete audit log, and a repetition continues', async () => {
  await using installed = await install([...Array.from({ length: 20_000 }, () => 60), 20]);
  const { db, folder, environment, run } = installed;
  await killMidway(['audit', 'cut', '--until', until, '--yes'], {
    folder: folder.path,
    environment,
    isMidway: async () => (await listCuts(db)).length > 0,
  });
  const left = (await agesIn(db)).length;
  assert.ok(left > 1, `${left}`);
  assert.equal((await run('audit verify')).status, 0);
  const repeated = await run(`audit cut --until ${until} --yes --json`);
  assert.equal(repeated.status, 0, repeated.stderr);
  assert.deepEqual(JSON.parse(repeated.stdout), { eventsBefore: until, removed: left - 1, blocked: null });
  assert.deepEqual(await agesIn(db), [20]);
  assert.equal((await run('audit verify')).status, 0);
});

test('a cut asks for confirmation, and removes no event that must be kept', async () => {
  await using installed = await install([60, 20]);
  const { db, run } = installed;
  assertFailed(await run(`audit cut --until ${until}`), 64, /The clock of this machine shows .* add --yes/);
  assertFailed(await run('audit cut --yes'), 64, /name a time with --until, or set KEYREEVE_AUDIT_DAYS/);
  assertFailed(await run(`audit cut --until ${toInstant(now)} --yes`), 64, /kept for 30 days at least/);
  assert.deepEqual(await agesIn(db), [60, 20]);
  const done = await run('audit cut --yes', { KEYREEVE_AUDIT_DAYS: '45' });
  assert.deepEqual([done.status, done.stdout], [0, 'Removed 1 audit event.\n'], done.stderr);
});
