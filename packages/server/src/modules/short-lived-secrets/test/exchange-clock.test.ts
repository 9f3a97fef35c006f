/** Which clock decides on the times of assertions: on PostgreSQL that of the database, so that all instances agree. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs } from '../../../foundation/clock.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newApp, operator } from '../../../../test-kit/new-app.ts';
import type { Dialect } from '../../../foundation/database/sql.ts';
import { currentKind } from '../../../../test-kit/new-db.ts';
import { exchange, newAssertion, newKeyPair } from '../../../../test-kit/public-key-client.ts';

/** Stands for the clock of a machine. */
class MachineClock extends FakeClock {
  readonly isSystem = true;
}

const statusOn = (kind: Dialect): Promise<number> =>
  currentKind.run(kind, async () => {
    await using app = await newApp({ clock: new MachineClock(Date.now() + hourMs) });
    const { id: accountId } = await app.createAccount();
    const pair = newKeyPair();
    const { id } = await app.service.services.apiKeys.createWithPublicKey(
      operator,
      accountId,
      { nickname: 'a' },
      pair.publicKey,
    );
    const iat = Math.floor(Date.now() / 1_000);
    return (await exchange(app, newAssertion(app, pair, id, { claims: { iat, exp: iat + 60 } }))).status;
  });

test('on PostgreSQL, an instance whose clock is an hour ahead accepts an assertion of now', async () => {
  assert.equal(await statusOn('postgres'), 200);
});

test('on SQLite, the clock of the process decides', async () => {
  assert.equal(await statusOn('sqlite'), 400);
});
