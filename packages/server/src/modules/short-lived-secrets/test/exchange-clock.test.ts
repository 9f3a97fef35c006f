/** Which clock decides on the times of assertions: on PostgreSQL that of the database, so that all instances agree. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../../foundation/clock.ts';
import { MachineClock } from '../../../../test-kit/fake-clock.ts';
import { newApp, operator } from '../../../../test-kit/new-app.ts';
import type { Dialect } from '../../../foundation/database/sql.ts';
import { currentKind } from '../../../../test-kit/new-db.ts';
import { deleteOldShortLived } from '../store.ts';
import { exchange, newAssertion, newKeyPair } from '../../../../test-kit/public-key-client.ts';

/**
 * The status of an exchange at the real time, and the number of secrets that housekeeping deletes afterwards.
 * @param aheadSeconds of the time of the assertion, which is made just before the exchange: it is valid for a minute
 */
const exchangeOn = (kind: Dialect, aheadSeconds: number): Promise<readonly [status: number, deleted: number]> =>
  currentKind.run(kind, async (): Promise<readonly [number, number]> => {
    const clock = new MachineClock(Date.now() + hourMs);
    await using app = await newApp({ clock });
    const { id: accountId } = await app.createAccount();
    const pair = newKeyPair();
    const { id } = await app.service.services.apiKeys.createWithIdentity(
      operator,
      accountId,
      { nickname: 'a' },
      { publicKey: pair.publicKey },
    );
    const iat = Math.floor(Date.now() / 1_000) + aheadSeconds;
    const { status } = await exchange(app, newAssertion(app, pair, id, { claims: { iat, exp: iat + 60 } }));
    // More than 15 minutes by the clock of the process, also if its secret has the time of this clock.
    clock.advance({ seconds: limits.shortLivedSecretKeptSeconds + 1 });
    return [status, await deleteOldShortLived(app.db, clock, 10)];
  });

test('on PostgreSQL, an instance whose clock is an hour ahead accepts an assertion of now, and keeps its use', async () => {
  assert.deepEqual(await exchangeOn('postgres', 0), [200, 0]);
});

test('on SQLite, the clock of the process decides', async () => {
  assert.deepEqual(await exchangeOn('sqlite', 0), [400, 0]);
  assert.deepEqual(await exchangeOn('sqlite', hourMs / 1_000), [200, 1]);
});
