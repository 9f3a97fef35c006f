/** Wherever a password is set over HTTP the same rules judge it, and a refusal uses nothing up (ASVS 6.2.4, 6.2.11, 6.2.12). */
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

/** By the route: the same request with another password each time. */
type Place = (password: string) => Promise<Answered>;

async function placesOf(client: AccountClient): Promise<Readonly<Record<string, Place>>> {
  const { app } = client;
  let first = '';
  await app.service.services.firstAdministrator.makeCode((text) => (first = text.reveal()));
  const createFirstAdministrator: Place = (password) =>
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
  const member = await client.newAccount(email);
  const resetCode = await client.resetCode(email);
  return {
    signUp: (password) => client.post('/auth/accounts', { email: 'new@example.com', password }),
    confirmPasswordReset: (password) => client.confirmReset(resetCode, password),
    changePassword: (newPassword) =>
      client.as(member, 'PUT', '/auth/account/password', { currentPassword: goodPassword, newPassword }),
    acceptInvitation: (password) => client.post('/auth/accounts/accept-invitation', { code: invitationCode, password }),
  };
}

const refused: readonly (readonly [password: string, code: ErrorCode])[] = [
  ['fourteen chars', 'password_too_short'],
  ['keyreeve-keyreeve-1', 'password_context'],
  ['passwordpassword', 'password_common'],
  ['1Q2w3e4r5t6y7u8i', 'password_common'],
  [`wombat orbit\u0000 velvet`, 'password_invalid'],
  ['w'.repeat(1_025), 'password_too_long'],
];

test(
  'every place where a password is set refuses what is short, guessable, common or can’t be sent',
  { tags: ['asvs:6.2.4', 'asvs:6.2.11', 'asvs:6.2.12', 'asvs:6.3.2'] },
  async () => {
    await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' }, false);
    const places = await placesOf(client);
    const inContract = allRoutes.filter(({ errors }) => (errors as readonly string[]).includes('password_common'));
    assert.deepEqual(
      [...Object.keys(places), 'createFirstAdministrator'].toSorted(),
      inContract.map(({ id }) => id).toSorted(),
    );
    for (const [route, set] of Object.entries(places)) {
      for (const [password, code] of refused) assertRejected(await set(password), code, route);
    }
    assertRejected(await places['changePassword']!('ada.lovelace 2026'), 'password_context', 'the own email');
    assertRejected(await places['acceptInvitation']!('Grace Hopper 1906'), 'password_context', 'the invited email');
    for (const route of ['signUp', 'changePassword', 'acceptInvitation']) {
      const { status, text } = await places[route]!(otherPassword);
      assert.ok(status === 200 || status === 202, `${route}: ${text}`);
    }
  },
);

test('a code from a mail outlives passwords that are refused', async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  const code = await client.resetCode(email);
  assertRejected(await client.confirmReset(code, 'passwordpassword'), 'password_common');
  assert.equal((await client.confirmReset(code, otherPassword)).status, 200);
  await client.signIn(email, otherPassword);
});
