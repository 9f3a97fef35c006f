/** The table of API keys, on each database. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { useKeys } from '../../../../test-kit/uses.ts';
import { findKeyStates } from '../state-store.ts';
import { findUses, withLastUses } from '../use-store.ts';
import { createKey, type NewKey } from '../new-key.ts';
import * as store from '../store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { KeyCreationLimits } from '../../rate-limits/key-creation-limits.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import {
  addAccount,
  addKey,
  addSession,
  hashOf,
  keys,
  newKey,
  now,
  operator,
  withoutOrdinal,
} from '../../../../test-kit/rows.ts';
import { deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const create = async (db: Db, key: NewKey, keysMax = 100, creationLimits?: KeyCreationLimits): Promise<'created'> => {
  const { accountId } = key;
  const owner = { kind: 'account', accountId, sessionId: `ses_${accountId.slice(4)}` } as const;
  await createKey(db, creationLimits ? owner : operator, key, { keysMax, creationLimits });
  return 'created';
};
const resolutionMs = limits.lastUsedResolutionSeconds * 1000;
const creationLimits: KeyCreationLimits = { bucketHash: keys.rateLimitBucket, creationsPerMinuteMax: 10 };
const nicknames = async (db: Db, accountId: string): Promise<string[]> =>
  (await store.listAccountKeys(db, accountId)).map(({ nickname }) => nickname);

onEachDatabase('a key is listed without its secret, and found by its hash with its account', async ({ db }) => {
  const ada = await addAccount(db);
  const key = await addKey(db, ada, 'billing', { id: 42, scopes: ['a:read', 'b'], expiresAt: now + 1 });
  const shown = {
    id: 42,
    nickname: 'billing',
    scopes: 'a:read b',
    needsRole: 0,
    ownerRole: 'user',
    expiresAt: now + 1,
    createdAt: now,
    updatedAt: now,
  };
  const listed = await store.listAccountKeys(db, ada);
  assert.deepEqual(
    listed.map((row) => ({ ...row })),
    [
      {
        ...shown,
        disabledAt: null,
        disabledReason: null,
        leakedAt: null,
        hint: 'krv_…x7Qa',
        publicKey: null,
        trust: null,
        issuerId: null,
        hasIssuer: 0,
        programId: null,
        programName: null,
        environment: null,
      },
    ],
  );
  const [found] = await findKeyStates(db, [key.hash]);
  assert.ok(found);
  const unrestricted = { accountDisabledAt: null, disabledAt: null, addresses: null };
  const none = { metadata: null, limits: null, accountLimits: null, overlapEndsAt: null };
  const { readAt, ...state } = found;
  // Rows of PostgreSQL have only the columns of the statement.
  const unread = db.dialect === 'sqlite' ? { withheld: null, environment: null } : {};
  assert.deepEqual(withoutOrdinal(state), { ...shown, accountId: ada, ...unrestricted, ...none, ...unread });
  assert.equal(readAt === null, db.dialect === 'sqlite', 'the time of the database, for a key that expires');
  assert.equal(await store.findKeyOwner(db, 42), ada);
  assert.equal(await store.findKeyOwner(db, 43), undefined);
});

onEachDatabase('of concurrent creations with one nickname, one succeeds', async (opened) => {
  const { db } = opened;
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  const rivals = rivalsMin * 2;
  const settled = await race(opened, rivals, (connection, rival) =>
    create(connection, newKey(ada, 'one', { id: rival + 1, hash: hashOf(`rival ${rival}`) })),
  );
  assert.deepEqual(outcomes(settled), { created: 1, nickname_taken: rivals - 1 });
  const winner = settled.findIndex(({ status }) => status === 'fulfilled');
  const hashes = settled.map((_, rival) => hashOf(`rival ${rival}`));
  const found = await findKeyStates(db, hashes);
  assert.deepEqual(
    found.map((row) => row?.id),
    hashes.map((_, rival) => (rival === winner ? winner + 1 : undefined)),
  );
  assert.equal(await create(db, newKey(bob, 'one', { id: 1_000 })), 'created', 'another account may use it');
  assert.equal(await create(db, newKey(ada, 'One', { id: 1_001 })), 'created', 'another case is another nickname');
  await deleteKey(db, { principal: operator, now }, ada, winner + 1);
  assert.equal(await create(db, newKey(ada, 'one', { id: 1_002 })), 'created', 'a deleted key’s nickname is free');
});

onEachDatabase('concurrent creations never exceed the maximum of keys', { tags: ['asvs:2.3.4'] }, async (opened) => {
  const ada = await addAccount(opened.db, 'ada');
  const bob = await addAccount(opened.db, 'bob');
  await addKey(opened.db, bob, 'not counted');
  const settled = await race(opened, rivalsMin * 2, (connection, rival) =>
    create(connection, newKey(ada, `key ${rival}`, { id: rival + 1 }), 10),
  );
  assert.deepEqual(outcomes(settled), { created: 10, key_limit_reached: rivalsMin * 2 - 10 });
  assert.equal((await nicknames(opened.db, ada)).length, 10);
});

onEachDatabase('concurrent creations never exceed the allowed rate', async (opened) => {
  const { db } = opened;
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  for (const name of ['ada', 'bob']) await addSession(db, `acc_${name}`, name);
  const settled = await race(opened, rivalsMin * 2, (connection, rival) =>
    create(connection, newKey(ada, `key ${rival}`, { id: rival + 1 }), 100, creationLimits),
  );
  assert.deepEqual(outcomes(settled), { created: 10, too_many_creations: rivalsMin * 2 - 10 });
  assert.equal(await create(db, newKey(bob, 'own count'), 100, creationLimits), 'created');
  const late = (ms: number): Promise<'created'> =>
    create(db, newKey(ada, `late ${ms}`, { id: 500 + ms, now: now + ms }), 100, creationLimits);
  await assert.rejects(late(59_999), (error) => codeOf(error) === 'too_many_creations');
  assert.equal(await late(60_000), 'created');
});

onEachDatabase('a rejected creation is not counted', async ({ db }) => {
  const ada = await addAccount(db);
  await addSession(db, ada, 'ada');
  await addKey(db, ada, 'taken');
  for (let attempt = 0; attempt < 12; attempt++) {
    await assert.rejects(
      create(db, newKey(ada, 'taken', { id: 900 }), 100, creationLimits),
      (error) => codeOf(error) === 'nickname_taken',
    );
  }
  for (let attempt = 0; attempt < 10; attempt++) {
    assert.equal(await create(db, newKey(ada, `key ${attempt}`), 100, creationLimits), 'created');
  }
});

onEachDatabase('keys that never expire, or after a time, are counted', async ({ db }) => {
  const ada = await addAccount(db);
  assert.equal(await store.countKeysBeyond(db, now), 0);
  for (const [nickname, expiresAt] of Object.entries({ never: null, later: now + 2, latest: now + 1, earlier: now }))
    await addKey(db, ada, nickname, { expiresAt });
  assert.equal(await store.countKeysBeyond(db, now + 1), 2);
});

onEachDatabase('no key is created for an unknown account', async ({ db }) => {
  await assert.rejects(create(db, newKey('acc_unknown', 'one')), (error) => codeOf(error) === 'account_not_found');
});

onEachDatabase('the id of a key is unique', async ({ db }) => {
  const ada = await addAccount(db);
  await addKey(db, ada, 'one', { id: 42 });
  await assert.rejects(create(db, newKey(ada, 'two', { id: 42 })), (error) => codeOf(error) === 'unavailable');
  assert.deepEqual(await nicknames(db, ada), ['one']);
});

onEachDatabase('of concurrent deletions of one key, one succeeds', async (opened) => {
  const ada = await addAccount(opened.db);
  const key = await addKey(opened.db, ada, 'one', { id: 42 });
  const settled = await race(opened, rivalsMin * 2, async (connection) => {
    await deleteKey(connection, { principal: operator, now }, ada, 42);
    return 'deleted';
  });
  assert.deepEqual(outcomes(settled), { deleted: 1, key_not_found: rivalsMin * 2 - 1 });
  assert.deepEqual(await findKeyStates(opened.db, [key.hash]), [undefined]);
  const deletions = (await listAuditEvents(opened.db)).filter(({ action }) => action === 'api_key.deleted');
  assert.equal(deletions.length, 1);
});

onEachDatabase(
  'another account’s key is not deleted, and the result differs from that of an unknown key',
  async ({ db }) => {
    const ada = await addAccount(db, 'ada');
    const bob = await addAccount(db, 'bob');
    await addKey(db, ada, 'one', { id: 42 });
    const act = { principal: operator, now };
    await assert.rejects(deleteKey(db, act, bob, 42), (error) => codeOf(error) === 'not_key_owner');
    await assert.rejects(deleteKey(db, act, bob, 43), (error) => codeOf(error) === 'key_not_found');
    assert.deepEqual(await nicknames(db, ada), ['one']);
  },
);

onEachDatabase(
  'a read that starts after the response to a deletion does not find the key, on any connection',
  async (opened) => {
    const { db } = opened;
    const other = await opened.connect();
    const ada = await addAccount(db);
    const rounds = Array.from({ length: 25 }, (_, round) => newKey(ada, `key ${round}`, { id: round + 1 }));
    for (const key of rounds) await create(db, key);
    for (const [round, { id, hash }] of rounds.entries()) {
      const [deleter, reader] = round % 2 === 0 ? [db, other] : [other, db];
      assert.equal((await findKeyStates(reader, [hash]))[0]?.id, id);
      await deleteKey(deleter, { principal: operator, now }, ada, id);
      const [seenByReader, seenByDeleter] = [reader, deleter].map((connection) => findKeyStates(connection, [hash]));
      assert.deepEqual(await seenByReader, [undefined]);
      assert.deepEqual(await seenByDeleter, [undefined]);
    }
  },
);

onEachDatabase('states have the order of the hashes, and the whole hash is compared', async ({ db }) => {
  const ada = await addAccount(db);
  const one = await addKey(db, ada, 'one', { id: 1 });
  const two = await addKey(db, ada, 'two', { id: 2 });
  const twin = Buffer.from(one.hash);
  twin[twin.length - 1] = (twin.at(-1) ?? 0) ^ 1;
  assert.equal(lookupOf(twin), lookupOf(one.hash));
  const found = await findKeyStates(db, [two.hash, twin, one.hash, hashOf('unknown'), two.hash]);
  assert.deepEqual(
    found.map((row) => row?.id),
    [2, undefined, 1, undefined, 2],
  );
  assert.deepEqual(await findKeyStates(db, []), []);
});

onEachDatabase('the read of a key also returns whether its account is disabled', async ({ db }) => {
  const ada = await addAccount(db);
  const { hash } = await addKey(db, ada, 'one');
  await disableAccount(db, { principal: operator, now: now + 5 }, ada);
  assert.equal((await findKeyStates(db, [hash]))[0]?.accountDisabledAt, now + 5);
});

onEachDatabase('the ranges from which a key was used since it changed are kept, within bounds', async ({ db }) => {
  const ranges = async (id = 1) => (await findUses(db, [id])).get(id)?.usedFrom;
  assert.equal(await ranges(), undefined);
  let at = now;
  const use = (from: string | null, more: object = {}) =>
    useKeys(db, [{ id: 1, at: (at += resolutionMs), from, changedAt: now, ...more }]);
  await use('203.0.113.0/24');
  await use('2001:db8:1::/48');
  for (const from of ['203.0.113.0/24', null, '2001:db8:1::/48']) await use(from);
  await use('198.51.100.0/24', { previousEndsAt: now });
  assert.deepEqual(await ranges(), '203.0.113.0/24 2001:db8:1::/48');
  await use('3.0.113.0/24');
  assert.deepEqual(await ranges(), '203.0.113.0/24 2001:db8:1::/48 3.0.113.0/24');
  for (let n = 0; n < 50; n++) await use(`10.${n}.0.0/24`);
  const full = (await ranges()) ?? '';
  assert.ok(full.length > 300 && full.length < 330, full);
  // A verification that has read the key before its change.
  await use('192.0.2.0/24', { changedAt: now - 1 });
  assert.equal(await ranges(), full);
  // The first one after the change, which need not wait for the resolution.
  await useKeys(db, [{ id: 1, at: at + 1, from: '192.0.2.0/24', changedAt: at }]);
  assert.equal(await ranges(), '192.0.2.0/24');
  const days = limits.emailUndoSuspectDays + limits.emailUndoSeconds / 86_400;
  const from = '203.0.113.0/24';
  await useKeys(db, [
    { id: 2, at: now + days * 86_400_000 + 1, from, changedAt: now },
    { id: 3, at: now - 1, from, changedAt: now },
  ]);
  assert.deepEqual([await ranges(2), await ranges(3)], [null, null]);
});

onEachDatabase('a time of last use is only replaced by one that is a minute later', async ({ db }) => {
  const ada = await addAccount(db);
  await addKey(db, ada, 'one', { id: 1 });
  await addKey(db, ada, 'two', { id: 2 });
  const times = async () => {
    const listed = await withLastUses(db, await store.listAccountKeys(db, ada));
    return listed.map((key) => [key.id, key.lastUsedAt, key.lastUsedFrom, key.updatedAt]);
  };
  const use = (id: number, at: number, from: string | null = null) => ({ id, at, from });
  await useKeys(db, [use(1, now + 10, '203.0.113.0/24'), use(999, now)]);
  const first = [1, now + 10, '203.0.113.0/24', now];
  assert.deepEqual(await times(), [first, [2, null, null, now]]);
  await useKeys(db, [use(1, now + 5), use(2, now + 7)]);
  await useKeys(db, [use(1, now + 9 + resolutionMs)]);
  assert.deepEqual(await times(), [first, [2, now + 7, null, now]]);
  await useKeys(db, [use(1, now + 10 + resolutionMs, '198.51.100.0/24')]);
  assert.deepEqual((await times())[0], [1, now + 10 + resolutionMs, '198.51.100.0/24', now]);
});

onEachDatabase('the use of a previous secret belongs to that secret', async ({ db }) => {
  const previous = async () => {
    const { previousUsedAt, previousEndsAt } = (await findUses(db, [1])).get(1) ?? {};
    return [previousUsedAt, previousEndsAt];
  };
  await useKeys(db, [{ id: 1, at: now, previousEndsAt: now + 100 }]);
  assert.deepEqual(await previous(), [now, now + 100]);
  await useKeys(db, [{ id: 1, at: now + resolutionMs }]);
  assert.deepEqual(await previous(), [now, now + 100]);
  await useKeys(db, [{ id: 1, at: now + resolutionMs + 1, previousEndsAt: now + 200 }]);
  assert.deepEqual(await previous(), [now + resolutionMs + 1, now + 200]);
  // Another process has collected it earlier, and writes it later.
  await useKeys(db, [{ id: 1, at: now + resolutionMs, previousEndsAt: now + 100 }]);
  assert.deepEqual(await previous(), [now + resolutionMs + 1, now + 200]);
});
