/** Programs: their settings, their removal with their keys, and what a restore brings back. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newDeviceClient, program } from '../../../../test-kit/device-client.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, auditEventsOf, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { countProgramKeys, setProgramTx } from '../../api-keys/program-key-store.ts';
import { backUp, journalIn, later, newBackupFolder, restore } from '../../backup/test/backup-kit.ts';
import type { Programs } from '../programs.ts';

const programsOn = (db: Db, at = now): Programs => wireOn(db, { clock: new FakeClock(at) }).programs;

/** Keys of a program, of several accounts. */
async function addKeys(db: Db, of: string, count: number): Promise<void> {
  const accountIds = [await addAccount(db, 'ada'), await addAccount(db, 'grace')];
  for (let n = 0; n < count; n++) {
    const { id } = await addKey(db, accountIds[n % 2]!, `${of} ${n}`);
    await db.transaction(async (tx) => setProgramTx(tx, id, of));
  }
}

testOnBoth('an administrator adds, changes, lists and removes programs', async () => {
  await using at = await newDeviceClient();
  const { app } = at;
  const admin = await newAdministrator(app);
  const added = await administer(app, admin, 'POST', 'programs', { id: 'tool', name: 'Tool' });
  const { createdAt, updatedAt, ...shown } = added.json as Record<string, unknown>;
  assert.deepEqual([added.status, added.headers.get('location')], [201, '/admin/programs/tool']);
  assert.equal(createdAt, updatedAt);
  const expected = { id: 'tool', name: 'Tool', scopes: [], lifetimeSeconds: limits.programLifetimeSeconds, keys: 0 };
  assert.deepEqual(shown, expected);
  assertRejected(await administer(app, admin, 'POST', 'programs', { id: 'tool', name: 'Tool' }), 'program_taken');
  for (const [body, code] of [
    [{ id: 'Tool', name: 'x' }, 'invalid_request'],
    [{ id: 'other', name: ' x' }, 'nickname_invalid'],
    [{ id: 'other', name: 'x', scopes: ['keyreeve:verify'] }, 'reserved_scope'],
    [{ id: 'other', name: 'x', lifetimeSeconds: 1 }, 'invalid_request'],
  ] as const)
    assertRejected(await administer(app, admin, 'POST', 'programs', body), code);
  const changed = await administer(app, admin, 'PATCH', 'programs/tool', { scopes: ['orders:read'] });
  assert.deepEqual((changed.json as { scopes: unknown }).scopes, ['orders:read']);

  const deviceCode = await at.approved();
  const { access_token: key } = await at.fetch(deviceCode);
  const list = (await administer(app, admin, 'GET', 'programs')).json as { programs: { id: string; keys: number }[] };
  assert.deepEqual(
    list.programs.map(({ id, keys }) => [id, keys]),
    [
      [program.id, 1],
      ['tool', 0],
    ],
  );
  const path = `programs/${program.id}`;
  const kept = await administer(app, admin, 'DELETE', path);
  const message = `The program ${program.id} has been removed. Keys that exist: 1.`;
  assert.deepEqual(kept.json, { message, deletedKeys: 0, remainingKeys: 1 });
  assert.equal(await at.isAccepted(key), true);
  assertRejected(await administer(app, admin, 'GET', path), 'program_not_found');
  const deleted = await administer(app, admin, 'DELETE', `${path}?keys=delete`);
  assert.deepEqual([deleted.status, (deleted.json as { deletedKeys: number }).deletedKeys], [200, 1], deleted.text);
  assert.equal(await at.isAccepted(key), false);
  assertRejected(await administer(app, admin, 'DELETE', `${path}?keys=delete`), 'program_not_found');
});

onEachDatabase(
  'the removal of a program deletes all of its keys, and no other ones, with an event for each',
  async ({ db }) => {
    const programs = programsOn(db);
    for (const id of ['many', 'other']) await programs.add(operator, { id, name: id });
    await addKeys(db, 'many', 7);
    const { id } = await addKey(db, await addAccount(db, 'alan'), 'other');
    await db.transaction(async (tx) => setProgramTx(tx, id, 'other'));
    const events = await auditEventsOf(db, async () =>
      assert.deepEqual(await programs.remove(operator, 'many', true), { deletedKeys: 7, remainingKeys: 0 }),
    );
    const actions = events.map(({ action }) => action);
    assert.deepEqual(actions, ['program.removed', ...Array.from({ length: 7 }, () => 'api_key.deleted')]);
    assert.equal(await countProgramKeys(db, 'other'), 1);
    await programs.remove(operator, 'other', false);
    const removed = await programs.listRemoved();
    assert.deepEqual([removed.length, removed[0]?.id, removed[0]?.keys], [1, 'other', 1]);
    await programs.add(operator, { id: 'other', name: 'Other' });
    assert.deepEqual(await programs.listRemoved(), []);
  },
);

onEachDatabase(
  'a restore repeats the narrowing and the removal of programs, and the deletion of their keys',
  async ({ db }) => {
    using temp = newBackupFolder();
    const journal = journalIn(db, temp.folder);
    const wired = wireOn(db, { clock: new FakeClock(now + 10) });
    const before = programsOn(db);
    for (const id of ['narrowed', 'removed', 'renamed', 'widened'])
      await before.add(operator, { id, name: id, scopes: ['a', 'b'], lifetimeSeconds: 3_600 });
    await addKeys(db, 'removed', 3);
    await backUp(db, temp.backup);
    await wired.programs.change(operator, 'narrowed', { scopes: ['a'] });
    await wired.programs.change(operator, 'renamed', { name: 'Another name' });
    await wired.programs.change(operator, 'widened', { scopes: ['a', 'b', 'c'] });
    await wired.programs.remove(operator, 'removed', true);
    await journal.catchUp();
    await using fresh = await databases[db.dialect]!();
    const { replayed } = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder] });
    assert.deepEqual([replayed.programsNarrowed, replayed.programsRemoved, replayed.apiKeys], [1, 1, 3]);
    const restored = programsOn(fresh.db, later + 1);
    assert.deepEqual(
      (await restored.list()).map(({ id, scopes, lifetimeSeconds }) => [id, scopes, lifetimeSeconds]),
      [
        ['narrowed', '', 0],
        ['renamed', 'a b', 3_600],
        ['widened', 'a b', 3_600],
      ],
    );
    const events = (await listAuditEvents(fresh.db)).filter(({ details }) => details?.includes('deletion_journal'));
    assert.deepEqual(
      events.filter(({ action }) => action.startsWith('program')).map(({ action, target }) => `${action} ${target}`),
      ['program.updated narrowed', 'program.removed removed'],
    );
    const stated = await restored.change(operator, 'narrowed', { scopes: ['a'], lifetimeSeconds: 3_600 });
    assert.equal(stated.lifetimeSeconds, 3_600);
  },
);

testOnBoth('two programs never have the same name, in any case, also if they are added at once', async () => {
  await using at = await newDeviceClient();
  const { app } = at;
  const admin = await newAdministrator(app);
  const names = ['Acme CLI', 'acme cli', 'ACME CL\u0131'];
  for (const name of names) {
    const answer = await administer(app, admin, 'POST', 'programs', { id: 'other', name });
    assertRejected(answer, 'invalid_request');
    assert.match(answer.text, /Another program has this name/);
  }
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => administer(app, admin, 'POST', 'programs', { id: `p${n}`, name: 'Same' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, ...Array<number>(15).fill(400)],
  );
  const path = `programs/${program.id}`;
  assertRejected(await administer(app, admin, 'PATCH', path, { name: 'SAME' }), 'invalid_request');
  assert.equal((await administer(app, admin, 'PATCH', path, { name: 'ACME CLI' })).status, 200);
});

testOnBoth('a key of a removed program does not show the name of a later one with the same id', async () => {
  await using at = await newDeviceClient();
  const { app } = at;
  const { programs } = app.service.services;
  await at.fetch(await at.approved({ nickname: 'earlier' }));
  await programs.remove(operator, program.id, false);
  app.clock.advance({ seconds: 1 });
  await programs.add(operator, { ...program, name: 'Other tool' });
  await at.fetch(await at.approved({ nickname: 'later' }));
  const { json } = await app.call('GET', '/auth/api-keys?view=full', { headers: bearer(at.person.accessToken) });
  const { apiKeys } = json as { apiKeys: { nickname: string; program: unknown }[] };
  assert.deepEqual(Object.fromEntries(apiKeys.map((key) => [key.nickname, key.program])), {
    earlier: { id: program.id, name: program.id },
    later: { id: program.id, name: 'Other tool' },
  });
});

onEachDatabase('there is a maximum number of programs', async ({ db }) => {
  const programs = programsOn(db);
  for (let n = 0; n < limits.programsMax; n++) await programs.add(operator, { id: `p${n}`, name: `program ${n}` });
  await assert.rejects(programs.add(operator, { id: 'more', name: 'more' }), { code: 'program_limit_reached' });
});
