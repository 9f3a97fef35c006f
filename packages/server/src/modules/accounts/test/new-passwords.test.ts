/** Every route that sets a password applies the same rules, and a rejection uses up no code (ASVS 6.2.4, 6.2.11, 6.2.12). */
import assert from 'node:assert/strict';
import { allRoutes, type ErrorCode } from '@keyreeve/contract';
import { bearer, goodPassword, type Answered } from '../../../../test-kit/new-app.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const invited = 'grace.hopper@example.com';
const email = 'ada.lovelace@example.com';

type SetPassword = (password: string) => Promise<Answered>;

/** @returns a request to each route that sets a password, by the id of the route */
async function requestsOf(client: AccountClient): Promise<Readonly<Record<string, SetPassword>>> {
  const { app } = client;
  let first = '';
  await app.service.services.firstAdministrator.createCode((text) => (first = text.reveal()));
  const createFirstAdministrator: SetPassword = (password) =>
    client.post('/auth/first-administrator', { code: first, email: 'first@example.com', password });
  assertRejected(await createFirstAdministrator('passwordpassword'), 'password_common');
  assert.equal((await createFirstAdministrator(goodPassword)).status, 201);

  const administrator = await newAdministrator(app);
  const invitation = await app.call('POST', '/admin/accounts', {
    headers: bearer(administrator.accessToken),
    json: { email: invited },
  });
  assert.equal(invitation.status, 201, invitation.text);
  const invitationCode = await client.nextCode(invited, /invited/);
  const tokens = await client.newAccount(email);
  const resetCode = await client.resetCode(email);
  return {
    signUp: (password) => client.post('/auth/accounts', { email: 'new@example.com', password }),
    confirmPasswordReset: (password) => client.confirmReset(resetCode, password),
    changePassword: (newPassword) =>
      client.as(tokens, 'PUT', '/auth/account/password', { currentPassword: goodPassword, newPassword }),
    acceptInvitation: (password) => client.post('/auth/accounts/accept-invitation', { code: invitationCode, password }),
  };
}

const rejected: readonly (readonly [password: string, code: ErrorCode])[] = [
  ['fourteen chars', 'password_too_short'],
  ['keyreeve-keyreeve-1', 'password_context'],
  ['passwordpassword', 'password_common'],
  ['1Q2w3e4r5t6y7u8i', 'password_common'],
  [`wombat orbit\u0000 velvet`, 'password_invalid'],
  ['w'.repeat(1_025), 'password_too_long'],
];

test(
  'every route that sets a password rejects short, guessable, common and invalid passwords',
  { tags: ['asvs:6.2.4', 'asvs:6.2.11', 'asvs:6.2.12', 'asvs:6.3.2'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
    const requests = await requestsOf(client);
    const inContract = allRoutes.filter(({ errors }) => (errors as readonly string[]).includes('password_common'));
    assert.deepEqual(
      [...Object.keys(requests), 'createFirstAdministrator'].toSorted(),
      inContract.map(({ id }) => id).toSorted(),
    );
    for (const [route, set] of Object.entries(requests)) {
      for (const [password, code] of rejected) assertRejected(await set(password), code, route);
    }
    assertRejected(
      await requests['changePassword']!('ada.lovelace 2026'),
      'password_context',
      'the account’s email address',
    );
    assertRejected(
      await requests['acceptInvitation']!('Grace Hopper 1906'),
      'password_context',
      'the invited email address',
    );
    for (const route of ['signUp', 'changePassword', 'acceptInvitation']) {
      const { status, text } = await requests[route]!(otherPassword);
      assert.ok(status === 200 || status === 202, `${route}: ${text}`);
    }
  },
);

test('a rejected password does not use up the code from a mail', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const code = await client.resetCode(email);
  assertRejected(await client.confirmReset(code, 'passwordpassword'), 'password_common');
  assert.equal((await client.confirmReset(code, otherPassword)).status, 200);
  await client.signIn(email, otherPassword);
});
