/** Which clock decides that a secret has expired: on PostgreSQL that of the database, so that all instances agree. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs } from '../../../foundation/clock.ts';
import { MachineClock } from '../../../../test-kit/fake-clock.ts';
import { newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { currentKind, type DatabasePlace } from '../../../../test-kit/new-db.ts';

const minuteMs = 60_000;

/** An instance whose clock differs from that of the database. */
const instance = (aheadMs: number, place?: DatabasePlace): Promise<TestApp> =>
  newApp({ clock: new MachineClock(Date.now() + aheadMs), ...(place ? { place } : {}) });

async function newKey(app: TestApp, accountId: string, nickname: string, expiresAt: number | null) {
  const { id, secret } = await app.service.services.apiKeys.create(operator, accountId, { nickname, expiresAt });
  return { id, key: secret.reveal() };
}

const resultOf = async (app: TestApp, key: string): Promise<string> => {
  const result = await app.service.services.verifier.verify(key);
  return result.valid ? 'valid' : result.code;
};

test('on PostgreSQL, an instance whose clock is wrong by an hour agrees with the others on what has expired', () =>
  currentKind.run('postgres', async () => {
    await using right = await instance(0);
    await using ahead = await instance(hourMs, right.place);
    await using behind = await instance(-hourMs, right.place);
    const { id: accountId } = await right.createAccount();
    const live = await newKey(right, accountId, 'live', Date.now() + 30 * minuteMs);
    const expired = await newKey(behind, accountId, 'expired', Date.now() - 30 * minuteMs);
    const rotated = await newKey(right, accountId, 'rotated', null);
    const ended = await newKey(right, accountId, 'ended', null);
    const rotation = { overlapSeconds: 1_800, endPrevious: false };
    await right.service.services.keyChanges.rotate(operator, accountId, rotated.id, rotation);
    await behind.service.services.keyChanges.rotate(operator, accountId, ended.id, rotation);
    for (const app of [right, ahead, behind]) {
      assert.deepEqual(await Promise.all([live, expired, rotated, ended].map(({ key }) => resultOf(app, key))), [
        'valid',
        'expired',
        'valid',
        'expired',
      ]);
    }
    // The instance whose clock is ahead still knows the previous secret that the others accept.
    await ahead.service.services.keyChanges.endPrevious(operator, accountId, rotated.id);
    assert.equal(await resultOf(right, rotated.key), 'not_found');
  }));

test('on SQLite, the clock of the process decides', () =>
  currentKind.run('sqlite', async () => {
    await using app = await instance(hourMs);
    const { id: accountId } = await app.createAccount();
    const { key } = await newKey(app, accountId, 'a', app.clock.now() + minuteMs);
    assert.equal(await resultOf(app, key), 'valid');
    app.clock.advance({ seconds: 60 });
    assert.equal(await resultOf(app, key), 'expired');
  }));
