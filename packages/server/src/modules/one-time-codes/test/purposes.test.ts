/** A one-time code works only for its own purpose and its own account. */
import assert from 'node:assert/strict';
import { insertCodeTx, type CodePurpose } from '../store.ts';
import { goodPassword, operator } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const paths: Readonly<Partial<Record<CodePurpose, string>>> = {
  verify_email: '/auth/accounts/verify',
  reset_password: '/auth/password-resets/confirm',
  change_email: '/auth/account/email/confirm',
  set_email: '/auth/account/email/accept',
  accept_invitation: '/auth/accounts/accept-invitation',
};
const purposes: readonly CodePurpose[] = [
  'verify_email',
  'reset_password',
  'change_email',
  'set_email',
  'accept_invitation',
  'first_administrator',
];

const bodyFor = (path: string, code: string, email = 'ada@example.com'): object =>
  path === paths.set_email ? { code, email } : { code, password: goodPassword };

/** Creates a code with the values that any of the purposes needs. */
async function codeFor(client: AccountClient, purpose: CodePurpose, accountId: string, email: string): Promise<string> {
  const { codes, hasher } = client.app.service.services;
  const { text, hash } = codes.make();
  const now = client.app.clock.now();
  const passwordHash = await hasher.hash(goodPassword);
  await client.app.db.transaction((tx) =>
    insertCodeTx(tx, {
      hash,
      purpose,
      accountId: purpose === 'first_administrator' ? null : accountId,
      email: { email, canonicalEmail: email },
      passwordHash,
      now,
      expiresAt: now + 60_000,
    }),
  );
  return text.reveal();
}

test(
  'a one-time code is accepted only by the route for its purpose',
  { tags: ['asvs:2.3.1', 'asvs:6.6.2'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
    for (const purpose of purposes) {
      const email = `${purpose.replace('_', '-')}@example.com`;
      const { id } = await client.app.createAccount(email);
      const code = await codeFor(client, purpose, id, `new-${email}`);
      for (const [other, path] of Object.entries(paths)) {
        if (other !== purpose) assertRejected(await client.post(path, bodyFor(path, code)), 'code_invalid', path);
      }
      const path = paths[purpose];
      if (path === undefined) continue;
      const answer = await client.post(path, bodyFor(path, code, email));
      assert.equal(answer.status, 200, `${purpose} ${answer.text}`);
      assertRejected(await client.post(path, bodyFor(path, code)), 'code_invalid', path);
    }
  },
);

test('a one-time code changes only its own account', { tags: ['asvs:2.3.1', 'asvs:6.6.2', 'asvs:8.2.2'] }, async () => {
  await using client = await newAccountClient();
  const [ada, bob] = [
    await client.app.createAccount('ada@example.com'),
    await client.app.createAccount('bob@example.com'),
  ];
  const code = await codeFor(client, 'reset_password', ada.id, 'x@example.com');
  assert.equal((await client.confirmReset(code)).status, 200);
  await client.signIn(ada.email, otherPassword);
  await client.signIn(bob.email, goodPassword);
});

test('credentials of other kinds and changed codes are rejected', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount('ada@example.com');
  const { secret } = await client.app.service.services.apiKeys.create(operator, id, { nickname: 'key' });
  const tokens = await client.signIn('ada@example.com');
  const good = await codeFor(client, 'reset_password', id, 'x@example.com');
  const wrong = [
    secret.reveal(),
    tokens.refreshToken,
    tokens.accessToken.slice(0, 128),
    good.slice(0, -1),
    `${good}x`.slice(0, 128),
    good.toUpperCase(),
    ` ${good}`,
    'krvc_',
    '%',
    'null',
  ];
  for (const path of Object.values(paths)) {
    for (const code of wrong) assertRejected(await client.post(path, bodyFor(path, code)), 'code_invalid', code);
  }
  assert.equal((await client.confirmReset(good)).status, 200);
});

test('an invitation sets the first password and verifies the email address, once', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount('ada@example.com');
  const code = await codeFor(client, 'accept_invitation', id, 'x@example.com');
  const accept = (password: string) => client.post('/auth/accounts/accept-invitation', { code, password });
  assertRejected(await accept('short'), 'password_too_short');
  assert.equal((await accept(otherPassword)).status, 200);
  assertRejected(await accept(otherPassword), 'code_invalid');
  await client.signIn('ada@example.com', otherPassword);
});
