/**
 * Account pre-hijacking (USENIX Security 2022): an attacker who creates an account with the email address of a victim loses
 * every access when the victim verifies it: password, sessions, keys, second factor, codes and pending changes.
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

// Unverified accounts cannot create keys. The reset must delete one nevertheless.
const insertKey = sql(
  'insert_early_key',
  `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, created_at, updated_at, folded)
   select 1, $2, 77, pk, 'early', '', null, 0, 0, 'early' from accounts where id = $1`,
);

/** Does everything that an unverified account can do. It was imported with its password, so it can sign in. */
async function prepare(client: AccountClient): Promise<{ tokens: Tokens; change: string; accountId: string }> {
  const { db, clock, service } = client.app;
  const passwordHash = await service.services.hasher.hash(attackersPassword);
  const imported = { id: randomId('acc'), email: victim, canonicalEmail: victim, passwordHash, role: 'user' } as const;
  assert.ok(await createAccount(db, operator, { ...imported, now: clock.now(), isUnverified: true }));
  await client.signUp(victim, attackersPassword);
  await client.untilOutboxEmpty();
  const tokens = await client.signIn(victim, attackersPassword);
  const { id: accountId } = (await client.as(tokens, 'GET', '/auth/account')).json as { id: string };
  assertRejected(await client.as(tokens, 'POST', '/auth/api-keys', { nickname: 'early' }), 'email_unverified');
  const change = await client.requestEmailChange(tokens, attacker, attackersPassword);
  await client.enrol(tokens, attackersPassword);
  await client.app.db.transaction((tx) => tx.run(insertKey, [accountId, newKey(accountId, 'early').hash]));
  return { tokens, change, accountId };
}

async function assertAttackerLostAccess(
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
    const confirmed = await client.confirmEmailChange(change, attempt);
    assertRejected(confirmed, 'code_invalid');
  }
  // The attacker's second factor is gone, so the sign-in needs no code.
  const own = await client.signIn(victim, password);
  const { json } = await client.as(own, 'GET', '/auth/account');
  const { email, verified, secondFactor } = json as Record<string, unknown>;
  assert.deepEqual({ email, verified, secondFactor }, { email: victim, verified: true, secondFactor: false });
  assert.deepEqual((await client.as(own, 'GET', '/auth/api-keys')).json, { apiKeys: [] });
}

test('a sign-up with the email address of another person cannot sign in before it is verified', async () => {
  await using client = await newAccountClient();
  await client.signUp(victim, attackersPassword);
  await client.untilOutboxEmpty();
  assertRejected(await client.trySignIn(victim, attackersPassword), 'invalid_credentials');
});

test('an owner who signs up and verifies the email address removes the access of an earlier sign-up', async () => {
  await using client = await newAccountClient();
  const prepared = await prepare(client);
  const attackersCode = await client.verificationCode(victim);
  await client.signUp(victim, goodPassword);
  const code = await client.verificationCode(victim);
  // Each code works only with the password of its own sign-up.
  assertRejected(await client.verifyEmail(code, attackersPassword), 'invalid_credentials');
  assertRejected(await client.verifyEmail(attackersCode, goodPassword), 'invalid_credentials');
  assert.equal((await client.verifyEmail(code, goodPassword)).status, 200);
  assertRejected(await client.verifyEmail(attackersCode, attackersPassword), 'code_invalid');
  await assertAttackerLostAccess(client, prepared, goodPassword);
});

test('an owner who resets the password removes the access of an earlier sign-up', async () => {
  await using client = await newAccountClient();
  const prepared = await prepare(client);
  const attackersCode = await client.verificationCode(victim);
  const answer = await client.confirmReset(await client.resetCode(victim), otherPassword);
  assert.deepEqual((answer.json as { apiKeys: unknown[] }).apiKeys, []);
  assertRejected(await client.verifyEmail(attackersCode, attackersPassword), 'code_invalid');
  await assertAttackerLostAccess(client, prepared, otherPassword);
});

test('an attacker who changes the email address of the account frees the one of the victim', async () => {
  await using client = await newAccountClient();
  const { change } = await prepare(client);
  await client.verificationCode(victim);
  const confirmed = await client.confirmEmailChange(change, attackersPassword);
  assert.equal(confirmed.status, 200, confirmed.text);
  await client.newAccount(victim);
});

test('a victim who opens the link of an attacker’s email change does not take over the attacker’s account', async () => {
  await using client = await newAccountClient();
  const tokens = await client.newAccount(attacker, attackersPassword);
  const code = await client.requestEmailChange(tokens, victim, attackersPassword);
  assertRejected(await client.confirmEmailChange(code), 'invalid_credentials');
  await client.newAccount(victim);
  const late = await client.confirmEmailChange(code, attackersPassword);
  assertRejected(late, 'account_exists');
});
