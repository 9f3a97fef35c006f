/** The stores of second factors and enrolments, and ending an account's other sessions. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { removeSecondFactor } from '../../administration/store.ts';
import type { AccountPrincipal } from '../../../foundation/principal.ts';
import type { Db } from '../../../foundation/database/db.ts';
import * as enrolment from '../enrolment-store.ts';
import { redeemProofTx, type FactorProof } from '../second-factors.ts';
import * as store from '../store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import * as tokens from '../../sessions/store.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addSession, keys, now, operator } from '../../../../test-kit/rows.ts';

const ada: AccountPrincipal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };
const sealed = keys.secondFactorSeal.seal('acc_ada', 'SECRET');
const noMail = (): undefined => undefined;
const codeHash = (name: string): Buffer => keys.oneTimeCodeHash.stored(name);

/** Creates a session, and a factor with last step 10 and the recovery codes `a` and `b`. */
async function addFactor(db: Db): Promise<void> {
  await addAccount(db, 'ada');
  await addSession(db, 'acc_ada', 'one');
  assert.ok(await enrolment.beginEnrolment(db, ada, sealed, now));
  const codeHashes = ['a', 'b'].map(codeHash);
  assert.ok(await enrolment.confirmEnrolment(db, ada, { sealed, step: 10, codeHashes, mail: undefined, now }));
}

const take = (db: Db, proof: FactorProof, accountId = 'acc_ada'): Promise<boolean> =>
  db.transaction(
    async (tx) => (await redeemProofTx(tx, { ...ada, accountId }, proof, { now, from: null })) !== undefined,
  );
const countCodes = (db: Db): Promise<number> => db.transaction((tx) => store.countRecoveryCodesTx(tx, 'acc_ada'));
const liveOf = async (db: Db, names: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(names.map((name) => tokens.findLiveSession(db, `ses_${name}`, now)));
  return names.filter((_, index) => found[index] !== undefined);
};

onEachDatabase('an enrolment replaces an unconfirmed factor but not a confirmed one', async ({ db }) => {
  await addAccount(db, 'ada');
  await addSession(db, 'acc_ada', 'one');
  const other = keys.secondFactorSeal.seal('acc_ada', 'OTHER');
  assert.ok(await enrolment.beginEnrolment(db, ada, sealed, now));
  assert.ok(await enrolment.beginEnrolment(db, ada, other, now + 1));
  const confirmed = { step: 10, codeHashes: [], mail: undefined, now };
  assert.equal(await enrolment.confirmEnrolment(db, ada, { ...confirmed, sealed }), undefined);
  assert.equal(await enrolment.confirmEnrolment(db, ada, { ...confirmed, sealed: other }), 'first');
  assert.equal(await enrolment.confirmEnrolment(db, ada, { ...confirmed, sealed: other, step: 11 }), undefined);
  assert.equal(await enrolment.beginEnrolment(db, ada, sealed, now), false);
  const { secret, ...row } = (await store.findFactor(db, 'acc_ada')) ?? {};
  assert.deepEqual([...(secret ?? [])], [...other]);
  const pending = { pendingSecret: null, pendingAt: null, appAddedAt: null, usedFrom: null };
  const times = { createdAt: now + 1, confirmedAt: now, lastStep: 10 };
  assert.deepEqual({ ...row }, { accountId: 'acc_ada', kind: 'totp', ...times, ...pending });
});

onEachDatabase(
  'one of many concurrent uses of a time step takes it, and no earlier step can be taken',
  async (opened) => {
    await addFactor(opened.db);
    const settled = await race(opened, rivalsMin * 2, (db) => take(db, { kind: 'totp', step: 12 }));
    assert.deepEqual(outcomes(settled), { true: 1, false: rivalsMin * 2 - 1 });
    for (const step of [10, 11, 12]) assert.equal(await take(opened.db, { kind: 'totp', step }), false);
    assert.ok(await take(opened.db, { kind: 'totp', step: 13 }));
  },
);

onEachDatabase('one of many concurrent uses of a recovery code takes it, for its own account only', async (opened) => {
  const { db } = opened;
  await addFactor(db);
  await addAccount(db, 'bob');
  assert.equal(await take(db, { kind: 'recovery_code', hash: codeHash('a') }, 'acc_bob'), false);
  const settled = await race(opened, rivalsMin * 2, (one) => take(one, { kind: 'recovery_code', hash: codeHash('a') }));
  assert.deepEqual(outcomes(settled), { true: 1, false: rivalsMin * 2 - 1 });
  assert.equal(await countCodes(db), 1);
  const used = (await listAuditEvents(db)).filter(({ action }) => action === 'recovery_code.used');
  assert.deepEqual(
    used.map(({ details }) => details),
    [`{"left":1,"code":"${codeHash('a').toString('hex')}"}`],
  );
});

onEachDatabase('a code is not used up by a change that is rejected', async ({ db }) => {
  await addFactor(db);
  const proof: FactorProof = { kind: 'recovery_code', hash: codeHash('a') };
  const ended: AccountPrincipal = { ...ada, sessionId: 'ses_ended' };
  const events = await listAuditEvents(db);
  const isInvalidToken = (error: unknown): boolean => codeOf(error) === 'invalid_access_token';
  await assert.rejects(enrolment.replaceCodes(db, ended, { proof, codeHashes: [], now }), isInvalidToken);
  await assert.rejects(
    enrolment.removeOwnFactor(db, ended, { proof, mailAbout: () => undefined, now }),
    isInvalidToken,
  );
  await assert.rejects(enrolment.beginEnrolment(db, ended, sealed, now), isInvalidToken);
  assert.equal(await countCodes(db), 2);
  assert.deepEqual(await listAuditEvents(db), events);
});

onEachDatabase('removing a factor deletes its recovery codes and ends the sessions', async ({ db }) => {
  await addFactor(db);
  await addSession(db, 'acc_ada', 'two', { accountEpoch: 1 });
  await removeSecondFactor(db, { principal: operator, now }, 'acc_ada', noMail);
  const removing = removeSecondFactor(db, { principal: operator, now }, 'acc_ada', noMail);
  await assert.rejects(removing, (error) => codeOf(error) === 'second_factor_not_enrolled');
  assert.equal(await store.findFactor(db, 'acc_ada'), undefined);
  assert.equal(await countCodes(db), 0);
  assert.deepEqual(await liveOf(db, ['one', 'two']), []);
});

onEachDatabase('ending other sessions keeps one session, and rejects a sign-in in progress', async ({ db }) => {
  await addAccount(db, 'ada');
  for (const name of ['one', 'two', 'three']) await addSession(db, 'acc_ada', name);
  await addSession(db, await addAccount(db, 'bob'), 'foreign');
  assert.equal(await tokens.endOtherSessions(db, ada, now), 2);
  assert.deepEqual(await liveOf(db, ['one', 'two', 'three', 'foreign']), ['one', 'foreign']);
  const late = { ...(await addSession(db, 'acc_ada', 'new', { accountEpoch: 1 })), id: 'ses_late', accountEpoch: 0 };
  assert.equal(await tokens.createSession(db, late, 50).catch(codeOf), 'invalid_credentials');
});

onEachDatabase('a refresh succeeds while the other sessions are ended', async (opened) => {
  const { db } = opened;
  await addAccount(db, 'ada');
  const hash = (generation: number): Buffer => keys.refreshTokenHash.stored(`one ${generation}`);
  await addSession(db, 'acc_ada', 'one');
  for (let generation = 1; generation <= rivalsMin; generation++) {
    const rotation: tokens.Rotation = {
      sessionId: 'ses_one',
      generation,
      tokenHash: hash(generation),
      successorHash: hash(generation + 1),
      now,
      issuedUntil: now,
      idleExpiresAt: now + dayMs,
    };
    const settled = await race(opened, 2, (connection, rival) =>
      rival === 0
        ? tokens.endOtherSessions(connection, ada, now).then(() => 'ended')
        : tokens.rotateRefreshToken(connection, rotation).then((rotated) => (rotated ? 'rotated' : 'rejected')),
    );
    assert.deepEqual(outcomes(settled), { ended: 1, rotated: 1 });
  }
});

onEachDatabase('concurrent sign-ins, removals and requests of one account do not deadlock', async (opened) => {
  const { db } = opened;
  await addFactor(db);
  const settled = await race(opened, rivalsMin, async (connection, rival) => {
    if (rival % 4 === 0)
      return removeSecondFactor(connection, { principal: operator, now }, 'acc_ada', noMail).then(() => true);
    if (rival % 4 === 1) return take(connection, { kind: 'totp', step: 20 + rival });
    if (rival % 4 === 2) return tokens.endOtherSessions(connection, ada, now).then(() => true);
    return enrolment.beginEnrolment(connection, ada, sealed, now);
  });
  const codes = settled
    .filter(({ status }) => status === 'rejected')
    .map((one) => codeOf((one as { reason: unknown }).reason));
  // After the first removal the sessions have ended and there is no factor. No other error may occur.
  const expected: readonly unknown[] = ['invalid_access_token', 'second_factor_not_enrolled'];
  assert.deepEqual(
    codes.filter((code) => !expected.includes(code)),
    [],
  );
});
