/** The session store: sessions, their limits, and the rotation of their refresh tokens. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { setPasswordHash } from '../../accounts/credentials-store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { replaceSigningKeys } from '../../signing-keys/store.ts';
import * as store from '../store.ts';
import { codeOf, onEachDatabase, raceToValues, rivalsMin, tally } from '../../../../test-kit/store-on-each-database.ts';
import {
  addAccount,
  addSession,
  addSigningKey,
  keys,
  newSession,
  newSigningKey,
  now,
  operator,
  withoutOrdinal,
} from '../../../../test-kit/rows.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

const hash = (text: string): Buffer => keys.refreshTokenHash.stored(text);

const rotation = (name: string, generation: number, more: Partial<store.Rotation> = {}): store.Rotation => ({
  sessionId: `ses_${name}`,
  generation,
  tokenHash: hash(`${name} ${generation}`),
  successorHash: hash(`${name} ${generation + 1}`),
  now,
  issuedUntil: now,
  idleExpiresAt: now + 14 * dayMs,
  ...more,
});

/** @returns the names of the sessions that have not ended */
async function liveIds(db: Db, names: readonly string[], at = now): Promise<string[]> {
  const live: string[] = [];
  for (const name of names) if (await store.findLiveSession(db, `ses_${name}`, at)) live.push(name);
  return live;
}

const findSessionState = async (db: Db, id: string, kid: string): Promise<store.SessionState | undefined> =>
  (await store.findSessionStates(db, [[id, kid]]))[0];

onEachDatabase('a new session has generation 1', { tags: ['asvs:7.2.4'] }, async ({ db }) => {
  await addSigningKey(db, 'kid');
  const { tokenHash, idleExpiresAt, expiresAt } = await addSession(db, await addAccount(db), 'one');
  const live = await store.findLiveSession(db, 'ses_one', now);
  const { tokenHash: stored, ...session } = live ?? {};
  assert.deepEqual(withoutOrdinal(session), { accountId: 'acc_ada', createdAt: now, generation: 1, rotatedAt: now });
  assert.deepEqual([...(stored ?? [])], [...tokenHash]);
  assert.deepEqual(withoutOrdinal(await findSessionState(db, 'ses_one', 'kid')), {
    accountId: 'acc_ada',
    isCurrentEpoch: 1,
    accountDisabledAt: null,
    accountRole: 'user',
    mustEnrol: 0,
    createdAt: now,
    idleExpiresAt,
    expiresAt,
  });
});

onEachDatabase('no session is created if the account changed while its password was verified', async ({ db }) => {
  await addAccount(db, 'ada');
  await addAccount(db, 'bob');
  await setPasswordHash(db, operator, { id: 'acc_ada', hash: 'new', now });
  await disableAccount(db, { principal: operator, now }, 'acc_bob');
  assert.equal(
    await store.createSession(db, newSession('acc_ada', 'old epoch'), 50).catch(codeOf),
    'invalid_credentials',
  );
  assert.equal(
    await store.createSession(db, newSession('acc_bob', 'disabled', { accountEpoch: 1 }), 50).catch(codeOf),
    'invalid_credentials',
  );
  assert.equal(
    await store.createSession(db, newSession('acc_unknown', 'unknown'), 50).catch(codeOf),
    'invalid_credentials',
  );
  assert.deepEqual(await liveIds(db, ['old epoch', 'disabled', 'unknown']), []);
  await store.createSession(db, newSession('acc_ada', 'new epoch', { accountEpoch: 1 }), 50);
});

onEachDatabase('beyond the limit the oldest session ends; ended sessions do not count', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  await addSession(db, bob, 'foreign', { now: now - 100 });
  await addSession(db, ada, 'first', { now: now - 3 });
  await addSession(db, ada, 'second', { now: now - 2 });
  await addSession(db, ada, 'idle', { now: now - 1, idleExpiresAt: now });
  const names = ['foreign', 'first', 'second', 'idle', 'third', 'fourth'];
  await store.createSession(db, newSession(ada, 'third'), 3);
  assert.deepEqual(await liveIds(db, names), ['foreign', 'first', 'second', 'third']);
  await store.createSession(db, newSession(ada, 'fourth', { now: now + 1 }), 3);
  assert.deepEqual(await liveIds(db, names), ['foreign', 'second', 'third', 'fourth']);
});

onEachDatabase('concurrent sign-ins never leave more sessions than the limit', async (opened) => {
  const ada = await addAccount(opened.db);
  const names = Array.from({ length: rivalsMin * 2 }, (_, rival) => `s${rival}`);
  const created = await raceToValues(opened, names.length, (connection, rival) =>
    store.createSession(connection, newSession(ada, `s${rival}`), 5),
  );
  assert.equal(created.length, names.length);
  assert.equal((await liveIds(opened.db, names)).length, 5);
});

onEachDatabase('one of many concurrent refreshes with a token rotates it', { tags: ['asvs:2.3.4'] }, async (opened) => {
  await addSession(opened.db, await addAccount(opened.db), 'one');
  const rivals = rivalsMin * 2;
  const rotated = await raceToValues(opened, rivals, (connection, rival) =>
    store.rotateRefreshToken(
      connection,
      rotation('one', 1, { successorHash: hash(`successor ${rival}`), now: now + 7 }),
    ),
  );
  const winners = rotated.flatMap((session, rival) => (session ? [rival] : []));
  assert.equal(winners.length, 1);
  const live = await store.findLiveSession(opened.db, 'ses_one', now + 7);
  assert.equal(live?.generation, 2);
  assert.equal(live?.rotatedAt, now + 7);
  assert.deepEqual([...(live?.tokenHash ?? [])], [...hash(`successor ${winners[0]}`)]);
});

onEachDatabase(
  'a token that was just issued does not rotate, and a clock that was set back does not prevent a rotation',
  async ({ db }) => {
    await addSession(db, await addAccount(db), 'one');
    const issuedUntil = now - 1;
    assert.equal(await store.rotateRefreshToken(db, rotation('one', 1, { issuedUntil })), undefined);
    const before = await store.findLiveSession(db, 'ses_one', now);
    assert.deepEqual([before?.generation, before?.rotatedAt], [1, now]);
    const later = await store.rotateRefreshToken(db, rotation('one', 1, { now: now + 1, issuedUntil: now }));
    assert.deepEqual([later?.generation, later?.rotatedAt], [2, now + 1]);
    const setBack = await store.rotateRefreshToken(db, rotation('one', 2, { now: now - 9, issuedUntil: now - 10 }));
    assert.deepEqual([setBack?.generation, setBack?.rotatedAt], [3, now - 9]);
  },
);

onEachDatabase(
  'a token never rotates again, in a chain of rotations either',
  { tags: ['asvs:10.4.5'] },
  async ({ db }) => {
    await addSession(db, await addAccount(db), 'one');
    for (let generation = 1; generation <= 5; generation++) {
      const rotated = await store.rotateRefreshToken(db, rotation('one', generation));
      assert.equal(rotated?.generation, generation + 1);
      assert.equal(rotated?.accountId, 'acc_ada');
      for (let old = 1; old <= generation; old++) {
        assert.equal(await store.rotateRefreshToken(db, rotation('one', old)), undefined);
      }
    }
  },
);

onEachDatabase('only the current token of a live session rotates', async ({ db }) => {
  const ada = await addAccount(db);
  await addSession(db, ada, 'one');
  await addSession(db, ada, 'idle', { idleExpiresAt: now });
  await addSession(db, ada, 'expired', { expiresAt: now });
  await addAccount(db, 'bob');
  await addSession(db, 'acc_bob', 'disabled');
  await disableAccount(db, { principal: operator, now }, 'acc_bob');
  const wrong: Record<string, store.Rotation> = {
    'another hash': rotation('one', 1, { tokenHash: hash('garbage') }),
    'another generation': rotation('one', 2, { tokenHash: hash('one 1') }),
    'another session': rotation('two', 1),
    'idle too long': rotation('idle', 1),
    'past its end': rotation('expired', 1),
    'of a disabled account': rotation('disabled', 1),
  };
  for (const [name, attempt] of Object.entries(wrong)) {
    assert.equal(await store.rotateRefreshToken(db, attempt), undefined, name);
  }
  assert.equal((await store.findLiveSession(db, 'ses_one', now))?.generation, 1);
});

onEachDatabase('a refresh never extends the maximum age of a session', { tags: ['asvs:10.4.8'] }, async ({ db }) => {
  await addSigningKey(db, 'kid');
  const { expiresAt } = await addSession(db, await addAccount(db), 'one');
  await store.rotateRefreshToken(db, rotation('one', 1, { idleExpiresAt: now + 15 * dayMs }));
  const state = await findSessionState(db, 'ses_one', 'kid');
  assert.deepEqual([state?.idleExpiresAt, state?.expiresAt], [now + 15 * dayMs, expiresAt]);
  await store.rotateRefreshToken(db, rotation('one', 2, { idleExpiresAt: expiresAt + 1 }));
  const last = await findSessionState(db, 'ses_one', 'kid');
  assert.deepEqual([last?.idleExpiresAt, last?.expiresAt], [expiresAt, expiresAt]);
});

onEachDatabase('a session works until the last millisecond of its idle time and its maximum age', async ({ db }) => {
  const ada = await addAccount(db);
  await addSession(db, ada, 'idle', { idleExpiresAt: now + 10 });
  await addSession(db, ada, 'expired', { idleExpiresAt: now + 20, expiresAt: now + 10 });
  assert.deepEqual(await liveIds(db, ['idle', 'expired'], now + 9), ['idle', 'expired']);
  assert.deepEqual(await liveIds(db, ['idle', 'expired'], now + 10), []);
});

onEachDatabase('an access token with a revoked or unknown signing key has no session', async ({ db }) => {
  await addSession(db, await addAccount(db), 'one');
  await addSigningKey(db, 'old');
  assert.equal((await findSessionState(db, 'ses_one', 'old'))?.accountId, 'acc_ada');
  assert.equal(await findSessionState(db, 'ses_one', 'unknown'), undefined);
  assert.equal(await findSessionState(db, 'ses_other', 'old'), undefined);
  await replaceSigningKeys(db, operator, newSigningKey('new'));
  assert.equal(await findSessionState(db, 'ses_one', 'old'), undefined);
  assert.equal((await findSessionState(db, 'ses_one', 'new'))?.accountId, 'acc_ada');
});

onEachDatabase('one of many concurrent ends of a session succeeds', async (opened) => {
  const ada = await addAccount(opened.db);
  await addSession(opened.db, ada, 'one');
  await addSession(opened.db, ada, 'two');
  const ended = await raceToValues(opened, rivalsMin, (connection) =>
    store.endSession(connection, { principal: operator, now }, 'ses_one'),
  );
  assert.deepEqual(tally(ended), { true: 1, false: rivalsMin - 1 });
  assert.deepEqual(await liveIds(opened.db, ['one', 'two']), ['two']);
  assert.equal(await store.rotateRefreshToken(opened.db, rotation('one', 1)), undefined);
});

onEachDatabase('a session ends despite a concurrent rotation', async (opened) => {
  const ada = await addAccount(opened.db);
  const names = Array.from({ length: rivalsMin }, (_, rival) => `s${rival}`);
  for (const name of names) await addSession(opened.db, ada, name);
  await raceToValues<unknown>(opened, rivalsMin * 2, (connection, rival) => {
    const name = names[rival >> 1] ?? '';
    return rival % 2 === 0
      ? store.rotateRefreshToken(connection, rotation(name, 1))
      : store.endSession(connection, { principal: operator, now }, `ses_${name}`);
  });
  assert.deepEqual(await liveIds(opened.db, names), []);
});

onEachDatabase(
  'only expired sessions are deleted, a limited number at a time',
  { tags: ['asvs:14.2.4'] },
  async ({ db }) => {
    const ada = await addAccount(db);
    for (const name of ['a', 'b', 'c']) await addSession(db, ada, name, { expiresAt: now + 5 });
    await addSession(db, ada, 'current', { expiresAt: now + 6 });
    assert.equal(await store.deleteExpiredSessions(db, now + 4, 2), 0);
    assert.equal(await store.deleteExpiredSessions(db, now + 5, 2), 2);
    assert.equal(await store.deleteExpiredSessions(db, now + 5, 2), 1);
    assert.equal(await store.deleteExpiredSessions(db, now + 5, 2), 0);
    assert.deepEqual(await liveIds(db, ['current'], now + 5), ['current']);
  },
);
