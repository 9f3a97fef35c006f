/** A client whose refresh returned 503 in an outage presents the same token again and stays signed in. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { Secret } from '../../../foundation/crypto/secret.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { operator } from '../../../../test-kit/rows.ts';

const password = 'wombat orbit velvet 42';
const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };

async function fixture(db: Db, email = 'ada@example.com') {
  const [line, clock] = [new Line(), new FakeClock()];
  const services = wireOn(behind(db, line), { clock, argon2 });
  const { accounts, signingKeys, tokenPairs } = services;
  await signingKeys.ensure();
  await accounts.create(operator, email, new Secret(password), 'user');
  const first = await tokenPairs.signIn(email, new Secret(password), { clientIp: '192.0.2.1', userAgent: '' });
  clock.advance({ seconds: 600 });
  /** A refresh whose commit has an unknown outcome. */
  const failed = async (state: Line['state'], refreshToken = first.refreshToken): Promise<void> => {
    line.state = state;
    await assert.rejects(tokenPairs.refresh(refreshToken), (error) => codeOf(error) === 'unavailable');
    line.state = 'whole';
    await tokenPairs.unanswered.recovered;
  };
  return { clock, tokenPairs, first, failed };
}

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(`a refresh that was ${state} its commit succeeds after an outage of 5 minutes`, async ({ db }) => {
    const { clock, tokenPairs, first, failed } = await fixture(db);
    await failed(state);
    clock.advance({ seconds: 300 });
    const second = await tokenPairs.refresh(first.refreshToken);
    assert.notEqual(second.refreshToken, first.refreshToken);
    clock.advance({ seconds: limits.refreshReuseSeconds });
    const third = await tokenPairs.refresh(second.refreshToken);
    // Now the first token is two generations old.
    await assert.rejects(tokenPairs.refresh(first.refreshToken), (error) => codeOf(error) === 'refresh_token_reused');
    await assert.rejects(tokenPairs.refresh(third.refreshToken), (error) => codeOf(error) === 'invalid_refresh_token');
  });
}

onEachDatabase(
  'a retry that returned 503 within the grace time succeeds later, and a later retry does not',
  async ({ db }) => {
    for (const [seconds, expected] of [
      [30, 'refreshed'],
      [31, 'refresh_token_reused'],
    ] as const) {
      const { clock, tokenPairs, first, failed } = await fixture(db, `after${seconds}@example.com`);
      await tokenPairs.refresh(first.refreshToken);
      clock.advance({ seconds });
      await failed('cut before');
      clock.advance({ seconds: 120 });
      const outcome = await tokenPairs.refresh(first.refreshToken).then(() => 'refreshed', codeOf);
      assert.equal(outcome, expected);
    }
  },
);

onEachDatabase('the 503 of one session does not extend the grace time of another', async ({ db }) => {
  const { clock, tokenPairs, first, failed } = await fixture(db);
  const other = await tokenPairs.signIn('ada@example.com', new Secret(password), {
    clientIp: '192.0.2.1',
    userAgent: '',
  });
  clock.advance({ seconds: 60 });
  await failed('cut after', other.refreshToken);
  await tokenPairs.refresh(first.refreshToken);
  clock.advance({ seconds: 31 });
  await assert.rejects(tokenPairs.refresh(first.refreshToken), (error) => codeOf(error) === 'refresh_token_reused');
  assert.notEqual((await tokenPairs.refresh(other.refreshToken)).refreshToken, other.refreshToken);
});
