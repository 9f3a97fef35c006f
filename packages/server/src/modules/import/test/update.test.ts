/** A second import before the cutover: what it takes of the changes in the other system. */
import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { replacePasswordHash, setPasswordHash } from '../../accounts/credentials-store.ts';
import * as accounts from '../../accounts/store.ts';
import type { Revocation, Revocations } from '../../deletion-journal/revocation.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { clock, hasher, importAccounts } from './import-run.ts';
import { deleteAccount, disableAccount, setAccountRole } from '../../../../test-kit/store-changes.ts';

const hashOf = (password: string): string =>
  `scrypt$1024$salt$8$1$${scryptSync(password, 'salt', 64, { N: 1024, r: 8, p: 1 }).toString('base64')}`;
const ada = 'ada@example.com';
const line = (more: object = {}) => ({ email: ada, passwordHash: hashOf('old'), ...more });

const find = async (db: Db): Promise<accounts.CredentialsRow> =>
  (await accounts.findCredentials(db, ada)) ?? assert.fail();
const accepts = async (db: Db, password: string): Promise<boolean> =>
  hasher.verify(password, (await find(db)).passwordHash);
const update = (db: Db, more: object, options: object = {}) =>
  importAccounts(db, [line(more)], { onExisting: 'update', ...options });

const changedInFile = 'the file has changed since the import of the account; --update takes the changes';
const changedHere = 'the account has changed here since its import, so it is not updated';
const notImported = 'no import has created the account that exists, so it is not updated';
const warning = (reason: string) => [{ reason, lines: 1, firstLine: 1 }];
const counted = (more: object) => ({
  lines: 1,
  imported: 0,
  updated: 0,
  existing: 0,
  changed: 0,
  refused: 0,
  refusedLines: {},
  warnings: [],
  ...more,
});

onEachDatabase('an update takes the password that was changed in the other system', async ({ db }) => {
  await importAccounts(db, [line()]);
  clock.advance({ seconds: 1 });
  const changed = { passwordHash: hashOf('new') };
  const warned = counted({ existing: 1, changed: 1, warnings: warning(changedInFile) });
  assert.deepEqual(await importAccounts(db, [line(changed)]), warned);
  assert.deepEqual(await importAccounts(db, [line(changed)], { isDryRun: true }), warned);
  assert.deepEqual(await update(db, changed, { isDryRun: true }), counted({ updated: 1 }));
  assert.deepEqual([await accepts(db, 'old'), await accepts(db, 'new')], [true, false]);
  const { sessionEpoch } = await find(db);
  assert.deepEqual(await update(db, changed), counted({ updated: 1 }));
  assert.deepEqual([await accepts(db, 'old'), await accepts(db, 'new')], [false, true]);
  assert.equal((await find(db)).sessionEpoch, sessionEpoch + 1);
  const [last] = (await listAuditEvents(db)).slice(-1);
  assert.deepEqual(
    [last?.action, last?.actor, last?.target, last?.details],
    ['account.password_set', 'operator', (await find(db)).id, '{"because":"import","scheme":"scrypt"}'],
  );
  const events = (await listAuditEvents(db)).length;
  assert.deepEqual(await update(db, changed), counted({ existing: 1 }));
  assert.equal((await listAuditEvents(db)).length, events);
});

onEachDatabase(
  'a sign-in that replaced the imported hash does not keep the old password in an update',
  async ({ db }) => {
    await importAccounts(db, [line()]);
    const { id, passwordHash } = await find(db);
    await replacePasswordHash(db, { id, passwordHash }, await hasher.hash('old'), clock.now());
    assert.deepEqual(await update(db, {}), counted({ existing: 1 }));
    assert.deepEqual(await update(db, { passwordHash: hashOf('new') }), counted({ updated: 1 }));
    assert.deepEqual([await accepts(db, 'old'), await accepts(db, 'new')], [false, true]);
  },
);

onEachDatabase(
  'an update takes the state and the verification of the email address, and only those',
  async ({ db }) => {
    await importAccounts(db, [line()]);
    const states = async () => {
      const { disabledAt, unverifiedSince } = await find(db);
      return [disabledAt !== null, unverifiedSince !== null];
    };
    for (const [more, expected, actions] of [
      [{ disabled: true }, [true, false], ['account.disabled']],
      [{ disabled: true, verified: false }, [true, true], ['account.email_confirmation_required']],
      [{ disabled: false, verified: true }, [false, false], ['account.enabled', 'account.verified']],
    ] as const) {
      clock.advance({ seconds: 1 });
      const before = (await listAuditEvents(db)).length;
      assert.deepEqual(await update(db, more), counted({ updated: 1 }));
      assert.deepEqual(await states(), expected);
      const events = (await listAuditEvents(db)).slice(before);
      assert.deepEqual(
        events.map(({ action, details }) => [action, details]),
        actions.map((action) => [action, '{"because":"import"}']),
      );
      assert.equal(await accepts(db, 'old'), true);
    }
    // What a file does not state does not change.
    await update(db, { disabled: true });
    assert.deepEqual(await importAccounts(db, [{ email: ada }], { onExisting: 'update' }), counted({ existing: 1 }));
    assert.deepEqual(await states(), [true, false]);
    assert.equal(await accepts(db, 'old'), true);
  },
);

onEachDatabase('an update removes a password that was removed in the other system', async ({ db }) => {
  await importAccounts(db, [line()]);
  const { updated, warnings } = await update(db, { passwordHash: '!unusable' });
  assert.deepEqual([updated, warnings?.length], [1, 1]);
  assert.equal((await find(db)).passwordHash, '');
});

onEachDatabase('an update never changes an account that has changed here since its import', async ({ db }) => {
  const changes: readonly ((id: string, at: number) => Promise<unknown>)[] = [
    async (id, at) => setPasswordHash(db, operator, { id, hash: await hasher.hash('own'), now: at }),
    (id, at) => disableAccount(db, { principal: operator, now: at }, id),
    (id, at) => setAccountRole(db, operator, { id, role: 'admin', now: at }),
  ];
  for (const change of changes) {
    await importAccounts(db, [line()]);
    clock.advance({ seconds: 1 });
    await change((await find(db)).id, clock.now());
    const before = await find(db);
    const events = await listAuditEvents(db);
    clock.advance({ seconds: 1 });
    const kept = counted({ existing: 1, changed: 1, warnings: warning(changedHere) });
    for (const isDryRun of [true, false])
      assert.deepEqual(await update(db, { passwordHash: hashOf('new'), disabled: true }, { isDryRun }), kept);
    assert.deepEqual(await find(db), before);
    assert.deepEqual(await listAuditEvents(db), events);
    // The same file as before needs no warning.
    assert.deepEqual(await update(db, {}), counted({ existing: 1 }));
    await deleteAccount(db, { principal: operator, now: clock.now() }, before.id);
  }
});

onEachDatabase('an update does not change an account that no import has created', async ({ db }) => {
  const account = {
    id: 'acc_ada',
    email: ada,
    canonicalEmail: ada,
    passwordHash: 'phc',
    role: 'user',
    now: 1,
  } as const;
  await accounts.createAccount(db, operator, account);
  const before = await find(db);
  assert.deepEqual(await update(db, {}), counted({ existing: 1, warnings: warning(notImported) }));
  assert.deepEqual(await importAccounts(db, [line()]), counted({ existing: 1 }));
  assert.deepEqual(await find(db), before);
});

onEachDatabase('an import replaces a pending sign-up, which anyone can make with any email address', async ({ db }) => {
  const signUp = { id: 'acc_ada', email: ada, canonicalEmail: ada, passwordHash: '', role: 'user', now: 1 } as const;
  const pending = { ...signUp, isUnverified: true, isSignUp: true };
  await accounts.createAccount(db, operator, pending);
  for (const isDryRun of [true, false])
    assert.deepEqual(await importAccounts(db, [line()], { isDryRun }), counted({ imported: 1 }));
  assert.equal(await accepts(db, 'old'), true);
  const events = (await listAuditEvents(db)).map(({ action, target, details }) => [action, target, details]);
  assert.deepEqual(events.slice(1), [
    ['account.deleted', 'acc_ada', '{"because":"sign_up_replaced"}'],
    ['account.created', null, '{"role":"user","imported":"scrypt"}'],
  ]);
});

onEachDatabase('of a change here and a concurrent update, the change here stays', async (opened) => {
  const { db } = opened;
  const other = await opened.connect();
  for (let round = 0; round < rivalsMin; round++) {
    await importAccounts(db, [line()]);
    clock.advance({ seconds: 1 });
    const { id } = await find(db);
    const at = clock.now();
    const own = await hasher.hash('own');
    await Promise.all([
      importAccounts(other, [line({ passwordHash: hashOf('new') })], { onExisting: 'update' }),
      setPasswordHash(db, operator, { id, hash: own, now: at + 1 }),
    ]);
    assert.equal((await find(db)).passwordHash, own);
    await deleteAccount(db, { principal: operator, now: at }, id);
  }
});

onEachDatabase('an update is in the deletion journal: a restore does not bring the old rights back', async ({ db }) => {
  await importAccounts(db, [line()]);
  const recorded: Revocation[] = [];
  const revocations: Revocations = {
    record: async (entries) => void recorded.push(...entries),
    recordChanges: () => assert.fail(),
    catchUpSoon: () => undefined,
  };
  const { id } = await find(db);
  await update(db, {}, { revocations });
  // Without --update, the file changes nothing.
  await importAccounts(db, [line({ passwordHash: hashOf('new') })], { revocations });
  assert.deepEqual(recorded, []);
  clock.advance({ seconds: 1 });
  const at = clock.now();
  await update(db, { passwordHash: hashOf('new'), disabled: true }, { revocations });
  assert.deepEqual(
    recorded.map(({ kind, id: target, at: time }) => [kind, target, time]),
    [
      ['password_changed', id, at],
      ['account_disabled', id, at],
    ],
  );
});

onEachDatabase(
  'the map has the old id, the email address and the new id of each account, also of an existing one',
  async ({ db }) => {
    const mapped: object[] = [];
    const onMapped = async (batch: readonly object[]) => void mapped.push(...batch);
    const lines = [line({ oldId: 'u-1' }), { email: 'Bob@example.com' }, { email: 'invalid', oldId: 'u-3' }];
    await importAccounts(db, lines, { onMapped, isDryRun: true });
    assert.deepEqual(mapped, []);
    await importAccounts(db, lines, { onMapped });
    const { id } = await find(db);
    const bob = await accounts.findCredentials(db, 'bob@example.com');
    const expected = [
      { oldId: 'u-1', email: ada, id },
      { oldId: null, email: 'Bob@example.com', id: bob?.id },
    ];
    assert.deepEqual(mapped.splice(0), expected);
    await importAccounts(db, lines, { onMapped });
    assert.deepEqual(mapped.splice(0), expected);
    const stranger = [line({ oldId: 'u-9', verified: false })];
    await importAccounts(db, stranger, { onMapped });
    await importAccounts(db, lines.slice(0, 1), { onMapped, onExisting: 'fail' });
    assert.deepEqual(mapped, [], 'neither an unverified line nor a rejected one is mapped to an existing account');
  },
);
