/** One-time codes: each is good for its own purpose and its own account, and nothing but a code is one. */
import assert from 'node:assert/strict';
import { insertCode, type CodePurpose } from '../store.ts';
import { goodPassword, operator } from '../../../../test-kit/new-app.ts';
import { assertRefused, newLife, otherPassword, type Life } from '../../../../test-kit/mailed-app.ts';
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

const bodyFor = (path: string, code: string): object =>
  path === paths.set_email ? { code } : { code, password: goodPassword };

/** With all that any purpose needs. */
async function codeFor(life: Life, purpose: CodePurpose, accountId: string, address: string): Promise<string> {
  const { codes, hasher } = life.app.service.services;
  const { text, hash } = codes.make();
  const now = life.app.clock.now();
  const passwordHash = await hasher.hash(goodPassword);
  await life.app.db.transaction((tx) =>
    insertCode(tx, {
      hash,
      purpose,
      accountId: purpose === 'first_administrator' ? null : accountId,
      email: { address, key: address },
      passwordHash,
      now,
      expiresAt: now + 60_000,
    }),
  );
  return text.reveal();
}

test(
  'a code opens the one address that is for its purpose',
  { tags: ['asvs:2.3.1', 'asvs:6.6.2'], timeout: 240_000 },
  async () => {
    await using life = await newLife({ KEYREEVE_THROTTLE: 'off' }, false);
    for (const purpose of purposes) {
      const { id } = await life.app.createAccount(`${purpose.replace('_', '-')}@example.com`);
      const code = await codeFor(life, purpose, id, `new-${purpose.replace('_', '-')}@example.com`);
      for (const [other, path] of Object.entries(paths)) {
        if (other !== purpose) assertRefused(await life.post(path, bodyFor(path, code)), 'code_invalid', path);
      }
      const path = paths[purpose];
      if (path === undefined) continue;
      const answer = await life.post(path, bodyFor(path, code));
      assert.equal(answer.status, 200, `${purpose} ${answer.text}`);
      assertRefused(await life.post(path, bodyFor(path, code)), 'code_invalid', path);
    }
  },
);

test('a code changes its own account and no other', { tags: ['asvs:2.3.1', 'asvs:6.6.2', 'asvs:8.2.2'] }, async () => {
  await using life = await newLife();
  const [ada, bob] = [await life.app.createAccount('ada@example.com'), await life.app.createAccount('bob@example.com')];
  const code = await codeFor(life, 'reset_password', ada.id, 'x@example.com');
  assert.equal((await life.reset(code)).status, 200);
  await life.signIn(ada.email, otherPassword);
  await life.signIn(bob.email, goodPassword);
});

test('what is no code is refused without being looked up', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount('ada@example.com');
  const { secret } = await life.app.service.services.apiKeys.create(operator, id, { nickname: 'key' });
  const tokens = await life.signIn('ada@example.com');
  const good = await codeFor(life, 'reset_password', id, 'x@example.com');
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
    for (const code of wrong) assertRefused(await life.post(path, bodyFor(path, code)), 'code_invalid', code);
  }
  assert.equal((await life.reset(good)).status, 200);
});

test('an invitation sets the first password and verifies, once', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount('ada@example.com');
  const code = await codeFor(life, 'accept_invitation', id, 'x@example.com');
  const accept = (password: string) => life.post('/auth/accounts/accept-invitation', { code, password });
  assertRefused(await accept('short'), 'password_too_short');
  assert.equal((await accept(otherPassword)).status, 200);
  assertRefused(await accept(otherPassword), 'code_invalid');
  await life.signIn('ada@example.com', otherPassword);
});
