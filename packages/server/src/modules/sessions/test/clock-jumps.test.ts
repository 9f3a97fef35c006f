/** A clock that jumps makes the server accept neither an access token nor a session for longer than its lifetime. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { basic, bearer, goodPassword, newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { aheadMsMax } from '../../../foundation/clock.ts';
import { deleteSessionsAhead } from '../ahead-store.ts';

const ttlSeconds = 600;
const maxSeconds = 7_200;
const environment = {
  KEYREEVE_ACCESS_TOKEN_TTL_SECONDS: String(ttlSeconds),
  KEYREEVE_REFRESH_IDLE_TTL_SECONDS: String(maxSeconds),
  KEYREEVE_REFRESH_MAX_TTL_SECONDS: String(maxSeconds),
};
const year = { days: 365 };
const yearBack = { days: -365 };

const isTokenAccepted = async (app: TestApp, { accessToken }: Pick<SignedIn, 'accessToken'>): Promise<boolean> =>
  (await app.call('GET', '/auth/account', { headers: bearer(accessToken) })).status === 200;

const isRefreshAccepted = async (app: TestApp, { refreshToken }: Pick<SignedIn, 'refreshToken'>): Promise<boolean> =>
  (await app.call('POST', '/auth/token/refresh', { json: { refreshToken } })).status === 200;

test('a clock that is set back accepts an access token for no longer than the tolerated difference', async () => {
  await using app = await newApp({ environment });
  const pair = await app.signIn();
  app.clock.advance({ seconds: ttlSeconds + limits.clockSkewSeconds });
  assert.equal(await isTokenAccepted(app, pair), false, 'expired');
  app.clock.advance({ seconds: -ttlSeconds - 2 * limits.clockSkewSeconds });
  assert.equal(await isTokenAccepted(app, pair), true, 'within the tolerated difference');
  app.clock.advance({ seconds: -1 });
  assert.equal(await isTokenAccepted(app, pair), false, 'from the future');
});

test('a credential that was issued while the clock was ahead is rejected after the correction', async () => {
  await using app = await newApp({ environment });
  const account = await app.createAccount();
  app.clock.advance(year);
  const answer = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  const pair = answer.json as SignedIn;
  const browser = new ConsoleClient(app);
  await browser.signIn(account.email);
  assert.deepEqual([await isTokenAccepted(app, pair), await browser.isSignedIn()], [true, true]);
  app.clock.advance(yearBack);
  assert.deepEqual(
    [await isTokenAccepted(app, pair), await isRefreshAccepted(app, pair), await browser.isSignedIn()],
    [false, false, false],
  );
  // The account is not locked out, and sees only its new session.
  const again = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  assert.equal(again.status, 200, again.text);
  const { accessToken } = again.json as SignedIn;
  const { sessions } = (await app.call('GET', '/auth/sessions', { headers: bearer(accessToken) })).json as {
    sessions: unknown[];
  };
  assert.equal(sessions.length, 1);
});

test('a session that began while the clock was ahead is still rejected when the real time reaches its start', async () => {
  await using app = await newApp();
  const account = await app.createAccount();
  app.clock.advance({ days: 2 });
  const answer = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  const pair = answer.json as SignedIn;
  const browser = new ConsoleClient(app);
  await browser.signIn(account.email);
  app.clock.advance({ days: -2 });
  assert.equal(await deleteSessionsAhead(app.db, app.clock, 1), 2);
  app.clock.advance({ days: 2, seconds: 1 - aheadMsMax / 1000 });
  assert.deepEqual([await isRefreshAccepted(app, pair), await browser.isSignedIn()], [false, false]);
});

test('a session of an earlier time continues after a jump of the clock, up to its end', async () => {
  await using app = await newApp({ environment });
  const { account, ...pair } = await app.signIn();
  const browser = new ConsoleClient(app);
  await browser.signIn(account.email);
  app.clock.advance({ seconds: -aheadMsMax / 1000 });
  assert.equal(await browser.isSignedIn(), true, 'set back by the tolerated difference');
  app.clock.advance({ seconds: aheadMsMax / 1000 });
  app.clock.advance(year);
  assert.deepEqual([await isRefreshAccepted(app, pair), await browser.isSignedIn()], [false, false], 'a year ahead');
});
