/** `keyreeve audit cut` and `audit export --then-forget`: an interruption loses nothing. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { dayMs, toInstant } from '../../src/foundation/clock.ts';
import { listCuts } from '../../src/modules/audit/cut-store.ts';
import { killMidway } from './killed-command.ts';
import { now, until, install, agesIn, assertFailed } from './audit-cut-kit.ts';

testOnEach('an export can forget what it has written, and a failed one forgets nothing', async () => {
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
