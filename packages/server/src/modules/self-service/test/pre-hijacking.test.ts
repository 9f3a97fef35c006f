/**
 * Whoever prepares an account with somebody else's email has nothing once its owner comes (account pre-hijacking,
 * USENIX Security 2022): no password, no session, no key, no second factor, no code, no pending change.
 */
import assert from 'node:assert/strict';
import { newKey } from '../../../../test-kit/rows.ts';
import { createAccount } from '../../accounts/store.ts';
import { randomId } from '../../../foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../../../test-kit/new-app.ts';
import { sql } from '../../../foundation/database/sql.ts';
import {
  attackersPassword,
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
  type Tokens,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const victim = 'victim@example.com';
const attacker = 'attacker@example.com';

// A key that no unverified account can make any more: as if one had been made before that was so.
const insertKey = sql(
  'insert_early_key',
  `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at, created_at, updated_at)
   select 1, $2, 77, pk, 'early', '', null, null, 0, 0 from accounts where id = $1`,
);

/** Everything that can be done with an account whose email isn't verified: one that was imported with its password. */
async function prepare(client: AccountClient): Promise<{ tokens: Tokens; change: string; accountId: string }> {
  const { db, clock, service } = client.app;
  const passwordHash = await service.services.hasher.hash(attackersPassword);
  const imported = { id: randomId('acc'), email: victim, canonicalEmail: victim, passwordHash, role: 'user' } as const;
  assert.ok(await createAccount(db, operator, { ...imported, now: clock.now(), isUnverified: true }));
  await client.signUp(victim, attackersPassword);
  await client.untilOutboxEmpty();
  const tokens = await client.signIn(victim, attackersPassword);
  const { id: accountId } = (await client.as(tokens, 'GET', '/auth/account')).json as { id: string };
  const asked = await client.as(tokens, 'PUT', '/auth/account/email', {
    email: attacker,
    currentPassword: attackersPassword,
  });
  assert.equal(asked.status, 202, asked.text);
  assertRejected(await client.as(tokens, 'POST', '/auth/api-keys', { nickname: 'early' }), 'email_unverified');
  const change = await client.nextCode(attacker, 'Confirm your new email');
  await client.enrol(tokens, attackersPassword);
  await client.app.db.transaction((tx) => tx.run(insertKey, [accountId, newKey(accountId, 'early').hash]));
  return { tokens, change, accountId };
}

async function assertNothingIsLeft(
  client: AccountClient,
  { tokens, change }: { tokens: Tokens; change: string },
  password: string,
): Promise<void> {
  assert.equal(await client.isSignedIn(tokens), false);
  assertRejected(
    await client.post('/auth/token/refresh', { refreshToken: tokens.refreshToken }),
    'invalid_refresh_token',
  );
  assertRejected(await client.trySignIn(victim, attackersPassword), 'invalid_credentials');
  for (const attempt of [attackersPassword, password]) {
    const confirmed = await client.post('/auth/account/email/confirm', { code: change, password: attempt });
    assertRejected(confirmed, 'code_invalid');
  }
  // Without a code of the attacker's second factor.
  const own = await client.signIn(victim, password);
  const { json } = await client.as(own, 'GET', '/auth/account');
  const { email, verified, secondFactor } = json as Record<string, unknown>;
  assert.deepEqual({ email, verified, secondFactor }, { email: victim, verified: true, secondFactor: false });
  assert.deepEqual((await client.as(own, 'GET', '/auth/api-keys')).json, { apiKeys: [] });
}

test('who signs up with somebody else’s email has no session, and so nothing to prepare', async () => {
  await using client = await newAccountClient();
  await client.signUp(victim, attackersPassword);
  await client.untilOutboxEmpty();
  assertRejected(await client.trySignIn(victim, attackersPassword), 'invalid_credentials');
});

test('the owner who signs up as well and verifies has the account alone', async () => {
  await using client = await newAccountClient();
  const prepared = await prepare(client);
  const strangers = await client.verificationCode(victim);
  await client.signUp(victim, goodPassword);
  const code = await client.verificationCode(victim);
  // The attacker's password is not the one of this sign-up, and the owner's not the one of the attacker's.
  assertRejected(await client.verifyEmail(code, attackersPassword), 'invalid_credentials');
  assertRejected(await client.verifyEmail(strangers, goodPassword), 'invalid_credentials');
  assert.equal((await client.verifyEmail(code, goodPassword)).status, 200);
  assertRejected(await client.verifyEmail(strangers, attackersPassword), 'code_invalid');
  await assertNothingIsLeft(client, prepared, goodPassword);
});

test('the owner who asks for a password reset has the account alone', async () => {
  await using client = await newAccountClient();
  const prepared = await prepare(client);
  const strangers = await client.verificationCode(victim);
  const answer = await client.confirmReset(await client.resetCode(victim), otherPassword);
  assert.deepEqual((answer.json as { apiKeys: unknown[] }).apiKeys, []);
  assertRejected(await client.verifyEmail(strangers, attackersPassword), 'code_invalid');
  await assertNothingIsLeft(client, prepared, otherPassword);
});

test('an account that changes its email to its own address frees the one that it was squatting on', async () => {
  await using client = await newAccountClient();
  const { change } = await prepare(client);
  await client.verificationCode(victim);
  const confirmed = await client.post('/auth/account/email/confirm', { code: change, password: attackersPassword });
  assert.equal(confirmed.status, 200, confirmed.text);
  await client.newAccount(victim);
});

test('the owner of an address is not led to take over a stranger’s account by a click', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(attacker, attackersPassword);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: victim, currentPassword: attackersPassword });
  const code = await client.nextCode(victim, 'Confirm your new email');
  assertRejected(
    await client.post('/auth/account/email/confirm', { code, password: goodPassword }),
    'invalid_credentials',
  );
  await client.newAccount(victim);
  const late = await client.post('/auth/account/email/confirm', { code, password: attackersPassword });
  assertRejected(late, 'account_exists');
});
