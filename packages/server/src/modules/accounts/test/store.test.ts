/** The store of accounts, their passwords and states. */
import assert from 'node:assert/strict';
import { findImportedRecipes } from '../imported-hash-store.ts';
import { replacePasswordHash, setPasswordHash } from '../credentials-store.ts';
import * as store from '../store.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import { findLiveSession, findSessionStates } from '../../sessions/store.ts';
import { onEachDatabase, raceToValues, rivalsMin, tally } from '../../../../test-kit/store-on-each-database.ts';
import {
  addAccount,
  addKey,
  addSession,
  addSigningKey,
  now,
  operator,
  auditEventsOf,
} from '../../../../test-kit/rows.ts';
import { deleteAccount, disableAccount } from '../../../../test-kit/store-changes.ts';

const ada: store.AccountRow = {
  id: 'acc_ada',
  email: 'ada@Example.com',
  canonicalEmail: 'ada@example.com',
  role: 'user',
  createdAt: now,
  updatedAt: now,
  disabledAt: null,
  unverifiedSince: null,
  requiresSecondFactor: 0,
  kind: 'person',
};

onEachDatabase('an account is found by its id or its canonical email, without its password', async ({ db }) => {
  await addAccount(db, 'ada');
  await addAccount(db, 'bob', 'admin');
  assert.deepEqual({ ...(await store.findAccount(db, 'acc_ada', '')) }, ada);
  assert.deepEqual({ ...(await store.findAccount(db, '', 'ada@example.com')) }, ada);
  assert.equal((await store.findAccount(db, 'acc_bob', ''))?.role, 'admin');
  assert.deepEqual(
    { ...(await store.findCredentials(db, 'ada@example.com')) },
    { ...ada, passwordHash: 'phc', sessionEpoch: 0, language: null, emailUnconfirmedSince: null },
  );
});

onEachDatabase('only the exact id or canonical email finds an account', async ({ db }) => {
  await addAccount(db, 'ada');
  for (const text of ['', 'ada@Example.com', 'ACC_ADA', 'acc_ad_', 'acc_%', '%']) {
    assert.equal(await store.findAccount(db, text, text), undefined, text);
    assert.equal(await store.findCredentials(db, text), undefined, text);
  }
});

onEachDatabase('one of many concurrent sign-ups with an email address creates its account', async (opened) => {
  const { db } = opened;
  const rivals = rivalsMin * 2;
  const recorded = await auditEventsOf(db, async () => {
    const created = await raceToValues(opened, rivals, (connection, rival) =>
      store.createAccount(connection, operator, {
        ...ada,
        id: `acc_${rival}`,
        passwordHash: `phc ${rival}`,
        now,
      }),
    );
    assert.deepEqual(tally(created), { true: 1, false: rivals - 1 });
    const winner = await store.findCredentials(db, 'ada@example.com');
    const index = created.indexOf(true);
    assert.equal(winner?.id, `acc_${index}`);
    assert.equal(winner?.passwordHash, `phc ${index}`);
  });
  assert.equal((await store.listAccounts(db, undefined, 100)).length, 1);
  assert.equal(recorded.length, 1);
});

onEachDatabase('accounts are listed oldest first, in pages without gaps or duplicates', async ({ db }) => {
  const same = { email: 'a@example.com', passwordHash: 'phc', role: 'user' } as const;
  const times = { c: 1, e: 2, a: 2, d: 2, b: 3 };
  for (const [name, later] of Object.entries(times)) {
    const account = { ...same, id: `acc_${name}`, canonicalEmail: `${name}@example.com`, now: now + later };
    assert.equal(await store.createAccount(db, operator, account), true);
  }
  const pages: string[][] = [];
  for (let page = await store.listAccounts(db, undefined, 2); ; page = await store.listAccounts(db, page.at(-1), 2)) {
    pages.push(page.map(({ id }) => id));
    if (page.length === 0) break;
  }
  assert.deepEqual(pages, [['acc_c', 'acc_a'], ['acc_d', 'acc_e'], ['acc_b'], []]);
});

onEachDatabase('a new password ends every session of its account and of no other', async ({ db }) => {
  await addSigningKey(db, 'kid');
  const own = await addSession(db, await addAccount(db, 'ada'), 'own');
  const foreign = await addSession(db, await addAccount(db, 'bob'), 'foreign');
  assert.equal(await setPasswordHash(db, operator, { id: 'acc_ada', hash: 'new', now: now + 5 }), true);
  const { passwordHash, sessionEpoch, updatedAt } = (await store.findCredentials(db, 'ada@example.com')) ?? {};
  assert.deepEqual(
    { passwordHash, sessionEpoch, updatedAt },
    { passwordHash: 'new', sessionEpoch: 1, updatedAt: now + 5 },
  );
  assert.equal(await findLiveSession(db, own.id, now), undefined);
  assert.equal((await findSessionStates(db, [[own.id, 'kid']]))[0]?.isCurrentEpoch, 0);
  assert.equal((await findLiveSession(db, foreign.id, now))?.accountId, 'acc_bob');
  assert.equal((await findSessionStates(db, [[foreign.id, 'kid']]))[0]?.isCurrentEpoch, 1);
  assert.equal((await store.findCredentials(db, 'bob@example.com'))?.passwordHash, 'phc');
});

onEachDatabase('a rehash replaces only the hash that it was computed from, and ends no session', async (opened) => {
  const { db } = opened;
  await addAccount(db);
  const replaced = await raceToValues(opened, rivalsMin, (connection, rival) =>
    replacePasswordHash(connection, { id: 'acc_ada', passwordHash: 'phc' }, `newer ${rival}`, now + 5),
  );
  assert.deepEqual(tally(replaced), { true: 1, false: rivalsMin - 1 });
  const { passwordHash, sessionEpoch, updatedAt } = (await store.findCredentials(db, 'ada@example.com')) ?? {};
  const winner = `newer ${replaced.indexOf(true)}`;
  assert.deepEqual(
    { passwordHash, sessionEpoch, updatedAt },
    { passwordHash: winner, sessionEpoch: 0, updatedAt: now },
  );
});

onEachDatabase(
  'one of many concurrent requests disables an account: its sessions end, and its API keys stop until it is enabled',
  async (opened) => {
    const { db } = opened;
    await addAccount(db);
    const session = await addSession(db, 'acc_ada', 'one');
    const key = await addKey(db, 'acc_ada', 'key');
    const disabled = await raceToValues(opened, rivalsMin, (connection, rival) =>
      disableAccount(connection, { principal: operator, now: now + rival }, 'acc_ada'),
    );
    assert.deepEqual(tally(disabled), { true: 1, false: rivalsMin - 1 });
    const at = now + disabled.indexOf(true);
    assert.deepEqual({ ...(await store.findAccount(db, 'acc_ada', '')) }, { ...ada, updatedAt: at, disabledAt: at });
    assert.equal(await findLiveSession(db, session.id, now), undefined);
    assert.equal((await findKeyStates(db, [key.hash]))[0]?.accountDisabledAt, at);

    const enabled = await raceToValues(opened, rivalsMin, (connection) =>
      store.enableAccount(connection, { principal: operator, now: now + 100 }, 'acc_ada'),
    );
    assert.deepEqual(tally(enabled), { true: 1, false: rivalsMin - 1 });
    assert.deepEqual({ ...(await store.findAccount(db, 'acc_ada', '')) }, { ...ada, updatedAt: now + 100 });
    assert.equal(await findLiveSession(db, session.id, now), undefined, 'the session stays ended');
    assert.equal((await findKeyStates(db, [key.hash]))[0]?.accountDisabledAt, null);
  },
);

onEachDatabase(
  'one of many concurrent requests deletes an account, its sessions and API keys, and frees its email address',
  { tags: ['asvs:10.3.3'] },
  async (opened) => {
    const { db } = opened;
    await addAccount(db, 'ada');
    await addAccount(db, 'bob');
    const session = await addSession(db, 'acc_ada', 'one');
    const key = await addKey(db, 'acc_ada', 'key');
    const foreign = await addKey(db, 'acc_bob', 'key', { id: 77 });
    const deleted = await raceToValues(opened, rivalsMin, (connection) =>
      deleteAccount(connection, { principal: operator, now }, 'acc_ada'),
    );
    assert.deepEqual(tally(deleted), { true: 1, false: rivalsMin - 1 });
    assert.equal(await store.findAccount(db, 'acc_ada', 'ada@example.com'), undefined);
    assert.equal(await findLiveSession(db, session.id, now), undefined);
    const [own, others] = await findKeyStates(db, [key.hash, foreign.hash]);
    assert.equal(own, undefined);
    assert.equal(others?.id, 77);
    await addAccount(db, 'ada');
    assert.deepEqual(await listAccountKeys(db, 'acc_ada'), []);
  },
);

onEachDatabase('a change of an account that does not exist returns false', async ({ db }) => {
  await addAccount(db, 'bob');
  const before = await store.findCredentials(db, 'bob@example.com');
  assert.equal(await setPasswordHash(db, operator, { id: 'acc_ada', hash: 'new', now }), false);
  assert.equal(await replacePasswordHash(db, { id: 'acc_ada', passwordHash: 'phc' }, 'new', now), false);
  assert.equal(await disableAccount(db, { principal: operator, now }, 'acc_ada'), false);
  assert.equal(await store.enableAccount(db, { principal: operator, now }, 'acc_ada'), false);
  assert.equal(await deleteAccount(db, { principal: operator, now }, 'acc_ada'), false);
  assert.deepEqual(await store.findCredentials(db, 'bob@example.com'), before);
});

onEachDatabase('each recipe of imported hashes is listed once', async ({ db }) => {
  const stored = (recipe: string, salt: string) => `$imported$${recipe},keyid=cDE$${salt}$${'A'.repeat(43)}`;
  const hashes = [
    stored('bcrypt$c=10,l=31', 'AAAA'),
    stored('bcrypt$c=10,l=31', 'BBBB'),
    stored('argon2id$v=19,m=64,t=1,p=1,l=32', 'AAAA'),
    '$argon2id$v=19$m=64,t=1,p=1,keyid=cDE$x$y',
    '',
  ];
  for (const [n, hash] of hashes.entries()) {
    const id = await addAccount(db, `user${n}`);
    await setPasswordHash(db, operator, { id, hash, now });
  }
  const recipes = ['$imported$argon2id$v=19,m=64,t=1,p=1,l=32', '$imported$bcrypt$c=10,l=31'];
  assert.deepEqual((await findImportedRecipes(db, 8)).toSorted(), recipes);
  assert.equal((await findImportedRecipes(db, 2)).length, 2);
  assert.equal((await findImportedRecipes(db, 1)).length, 1);
});
