/** Revocations by administrators apply immediately on every instance, and their mails go only to the owner. */
import assert from 'node:assert/strict';
import type { AccountDetail } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { basic, bearer, goodPassword, newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import {
  administer,
  problemCode,
  detailOf,
  newAdministrator,
  newTarget,
  newAccessToken,
  type Target,
} from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, newEnrolledAccount, trySignIn } from '../../../../test-kit/authenticator.ts';

const newPassword = 'saddle quartz meadow 77';
const codePattern = /krvc_[0-9A-Za-z]{49}/;

/** The credentials of an account that an instance accepts. */
interface Accepted {
  readonly session: boolean;
  readonly key: boolean;
  readonly signIn: boolean;
}

const isAccepted = async (app: TestApp, credential: string): Promise<boolean> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(credential) })).status === 200;

async function acceptedBy(app: TestApp, { account, accessToken, key }: Target): Promise<Accepted> {
  const [session, isKeyAccepted] = [await isAccepted(app, accessToken), await isAccepted(app, key)];
  const signIn = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  return { session, key: isKeyAccepted, signIn: signIn.status === 200 };
}

interface Revocation {
  readonly request: (target: Target) => readonly [method: string, path: string];
  /** The credentials that still work afterwards. */
  readonly accepted: Accepted;
  readonly actions: readonly string[];
  readonly needsMail?: boolean;
}

const post = (path: string) => (target: Target) => ['POST', `accounts/${target.account.id}/${path}`] as const;

const revocations: Readonly<Record<string, Revocation>> = {
  'disabling an account': {
    request: post('disable'),
    accepted: { session: false, key: false, signIn: false },
    actions: ['account.disabled'],
  },
  'deleting an account': {
    request: ({ account }) => ['DELETE', `accounts/${account.id}`],
    accepted: { session: false, key: false, signIn: false },
    actions: ['account.deleted'],
  },
  'ending all sessions of an account': {
    request: post('end-sessions'),
    accepted: { session: false, key: true, signIn: true },
    actions: ['account.sessions_ended'],
  },
  'deleting all API keys of an account': {
    request: post('revoke-keys'),
    accepted: { session: true, key: false, signIn: true },
    actions: ['api_key.deleted'],
  },
  'marking an account compromised': {
    request: post('compromised'),
    accepted: { session: false, key: false, signIn: false },
    actions: ['account.compromised', 'api_key.deleted'],
    needsMail: true,
  },
  'deleting an API key': {
    request: ({ account, keyId }) => ['DELETE', `accounts/${account.id}/api-keys/${keyId}`],
    accepted: { session: true, key: false, signIn: true },
    actions: ['api_key.deleted'],
  },
  'ending a session': {
    request: ({ account, sessionId }) => ['DELETE', `accounts/${account.id}/sessions/${sessionId}`],
    accepted: { session: false, key: true, signIn: true },
    actions: ['session.ended'],
  },
};

for (const [what, { request, accepted, actions, needsMail = false }] of Object.entries(revocations)) {
  test(
    `${what} applies immediately on another instance, and not to another account`,
    { tags: ['asvs:7.4.5'] },
    async () => {
      await using place = await newPlace();
      await using mailbox = await Mailbox.start();
      // All instances have the same issuer.
      const shared = { KEYREEVE_PUBLIC_URL: 'http://auth.localhost' };
      const environment = { ...shared, ...(needsMail ? mailbox.environment : {}) };
      await using one = await newApp({ place, environment });
      await using other = await newApp({ place, environment });
      const administrator = await newAdministrator(one);
      const [target, neighbour] = [await newTarget(one, 'ada@example.org'), await newTarget(one, 'eve@example.org')];
      for (const app of [one, other])
        assert.deepEqual(await acceptedBy(app, target), { session: true, key: true, signIn: true });
      const before = (await listAuditEvents(one.db)).length;

      const [method, path] = request(target);
      const done = await administer(one, administrator, method, path);
      assert.equal(done.status, 200, done.text);
      const recorded = (await listAuditEvents(one.db))
        .slice(before)
        .filter(({ action }) => action !== 'session.created');
      for (const app of [other, one]) assert.deepEqual(await acceptedBy(app, target), accepted);
      assert.deepEqual(
        recorded.map(({ action, actor, accountId }) => ({ action, actor, accountId })),
        actions.map((action) => ({
          action,
          actor: `account:${administrator.account.id}`,
          accountId: target.account.id,
        })),
      );
      for (const app of [one, other])
        assert.deepEqual(await acceptedBy(app, neighbour), { session: true, key: true, signIn: true });
    },
  );
}

test('enabling an account restores its API keys but not its sessions', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const target = await newTarget(app);
  const { id } = target.account;
  const disabled = await administer(app, administrator, 'POST', `accounts/${id}/disable`);
  const { disabledAt, sessionCount, apiKeyCount } = disabled.json as AccountDetail;
  assert.deepEqual(
    { disabledAt, sessionCount, apiKeyCount },
    {
      disabledAt: new Date(app.clock.now()).toISOString(),
      sessionCount: 0,
      apiKeyCount: 1,
    },
  );
  const enabled = await administer(app, administrator, 'POST', `accounts/${id}/enable`);
  assert.equal((enabled.json as AccountDetail).disabledAt, null);
  assert.deepEqual(await acceptedBy(app, target), { session: false, key: true, signIn: true });
});

async function resetWith(app: TestApp, mailbox: Mailbox, to: string): Promise<void> {
  const mail = await mailbox.next({ to, subject: 'Set a new password' });
  const [code = ''] = codePattern.exec(mail.text) ?? [];
  const confirmed = await app.call('POST', '/auth/password-resets/confirm', { json: { code, password: newPassword } });
  assert.equal(confirmed.status, 200, confirmed.text);
}

test('the code of a password reset is sent to the owner, and is not in the response to the administrator', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app);
  const target = await newTarget(app, 'ada@example.org');
  const answer = await administer(app, administrator, 'POST', `accounts/${target.account.id}/reset-password`);
  assert.equal(answer.status, 200, answer.text);
  assert.doesNotMatch(answer.text, codePattern);
  assert.deepEqual(
    await acceptedBy(app, target),
    { session: true, key: true, signIn: true },
    'the reset changes nothing until its code is used',
  );
  await resetWith(app, mailbox, 'ada@example.org');
  assert.deepEqual(await acceptedBy(app, target), { session: false, key: true, signIn: false });
  await newAccessToken(app, 'ada@example.org', newPassword);
  assert.ok(!app.logLines.join('').includes('krvc_'));
});

test('the owner of a compromised account gets it back by setting a new password from the mail', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app);
  const target = await newTarget(app, 'ada@example.org');
  // The attacker has requested a reset as well.
  await app.call('POST', '/auth/password-resets', { json: { email: 'ada@example.org' } });
  const [stolen = ''] = codePattern.exec((await mailbox.next({ to: 'ada@example.org' })).text) ?? [];
  const answer = await administer(app, administrator, 'POST', `accounts/${target.account.id}/compromised`);
  assert.equal(answer.status, 200, answer.text);
  const { hasPassword, apiKeyCount, sessionCount } = answer.json as AccountDetail;
  assert.deepEqual({ hasPassword, apiKeyCount, sessionCount }, { hasPassword: false, apiKeyCount: 0, sessionCount: 0 });
  const late = await app.call('POST', '/auth/password-resets/confirm', {
    json: { code: stolen, password: newPassword },
  });
  assert.equal(problemCode(late), 'code_invalid');
  await resetWith(app, mailbox, 'ada@example.org');
  await newAccessToken(app, 'ada@example.org', newPassword);
});

test('without mail, operations that send a code are rejected', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const target = await newTarget(app);
  const before = await listAuditEvents(app.db);
  const requests: readonly (readonly [path: string, json?: unknown])[] = [
    ['accounts', { email: 'new@example.org' }],
    [`accounts/${target.account.id}/invite`],
    [`accounts/${target.account.id}/reset-password`],
    [`accounts/${target.account.id}/compromised`],
  ];
  for (const [path, json] of requests) {
    const answer = await administer(app, administrator, 'POST', path, json);
    assert.deepEqual([answer.status, problemCode(answer)], [409, 'mail_not_configured'], path);
  }
  assert.deepEqual(await listAuditEvents(app.db), before);
});

async function accept(app: TestApp, code: string): Promise<number> {
  const json = { code, password: goodPassword };
  return (await app.call('POST', '/auth/accounts/accept-invitation', { json })).status;
}

test(
  'an invitation sets the password once, within a day for an administrator; a newer invitation replaces it',
  { tags: ['asvs:6.4.1'] },
  async () => {
    await using mailbox = await Mailbox.start();
    await using app = await newApp({ environment: mailbox.environment });
    const administrator = await newAdministrator(app);
    const invite = async (): Promise<string> => {
      const mail = await mailbox.next({ to: 'new@example.org', subject: 'invited' });
      return codePattern.exec(mail.text)?.[0] ?? '';
    };
    const body = { email: 'new@example.org', role: 'admin' };
    const invited = await administer(app, administrator, 'POST', 'accounts', body);
    assert.equal(invited.status, 201, invited.text);
    const { id, role, verified, hasPassword } = invited.json as AccountDetail;
    assert.equal(invited.headers.get('location'), `/admin/accounts/${id}`);
    assert.deepEqual({ role, verified, hasPassword }, { role: 'admin', verified: false, hasPassword: false });
    const first = await invite();
    for (const password of ['', goodPassword]) {
      const answer = await app.call('POST', '/auth/token', { headers: basic('new@example.org', password) });
      assert.equal(answer.status, 401);
    }
    const twice = await administer(app, administrator, 'POST', 'accounts', { email: 'NEW@example.org' });
    assert.deepEqual([twice.status, problemCode(twice)], [409, 'account_exists']);

    assert.equal((await administer(app, administrator, 'POST', `accounts/${id}/invite`)).status, 200);
    const second = await invite();
    assert.equal(await accept(app, first), 400);
    app.clock.advance({ seconds: 86_400 });
    assert.equal(await accept(app, second), 400);
    const recent = { accessToken: await newAccessToken(app, administrator.account.email) };
    assert.equal((await administer(app, recent, 'POST', `accounts/${id}/invite`)).status, 200);
    const third = await invite();
    const answers = await Promise.all(Array.from({ length: 4 }, () => accept(app, third)));
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      [200, 400, 400, 400],
    );
    const member: Pick<SignedIn, 'accessToken'> = { accessToken: await newAccessToken(app, 'new@example.org') };
    assert.equal((await administer(app, member, 'GET', 'accounts')).status, 200);
    const late = await administer(app, recent, 'POST', `accounts/${id}/invite`);
    assert.deepEqual([late.status, problemCode(late)], [409, 'account_has_password']);
  },
);

test('an administrator can require and waive a second factor, which the account details show', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { account } = await newTarget(app);
  const send = (path: string) => administer(app, administrator, 'POST', `accounts/${account.id}/${path}`);
  assert.equal(((await send('require-second-factor')).json as AccountDetail).requiresSecondFactor, true);
  assert.equal(((await send('require-second-factor')).json as AccountDetail).requiresSecondFactor, true);
  assert.equal(((await send('waive-second-factor')).json as AccountDetail).requiresSecondFactor, false);
  const none = await send('remove-second-factor');
  assert.deepEqual([none.status, problemCode(none)], [409, 'second_factor_not_enrolled']);
  const actions = (await listAuditEvents(app.db))
    .map(({ action }) => action)
    .filter((action) => /required|waived/.test(action));
  assert.deepEqual(actions, ['account.second_factor_required', 'account.second_factor_waived']);
  assert.equal((await detailOf(app, administrator, account.id)).sessionCount, 1);
});

test('removing a lost second factor ends the sessions, sends a mail to the owner, and allows sign-in by password', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app);
  const user = await newEnrolledAccount(app, 'ada@example.org');
  assert.equal((await detailOf(app, administrator, user.account.id)).secondFactor, true);
  assert.equal((await trySignIn(app, 'ada@example.org')).status, 401);
  await mailbox.next({ to: 'ada@example.org', subject: 'was added' });
  const path = `accounts/${user.account.id}/remove-second-factor`;
  const removed = await administer(app, administrator, 'POST', path);
  assert.equal(removed.status, 200, removed.text);
  const { secondFactor, sessionCount } = removed.json as AccountDetail;
  assert.deepEqual({ secondFactor, sessionCount }, { secondFactor: false, sessionCount: 0 });
  assert.equal(await isAccepted(app, user.accessToken), false);
  const [recoveryCode = ''] = user.recoveryCodes;
  assert.equal((await trySignIn(app, 'ada@example.org', recoveryCode, 'not the password at all')).status, 401);
  assert.equal((await trySignIn(app, 'ada@example.org')).status, 200);
  await mailbox.next({ to: 'ada@example.org', subject: 'was removed' });
  const actions = (await listAuditEvents(app.db)).slice(-3).map(({ action }) => action);
  assert.deepEqual(actions, ['second_factor.removed', 'account.sessions_ended', 'session.created']);
});

test('marking an account compromised keeps its second factor', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const user = await newEnrolledAccount(app, 'ada@example.org');
  const administrator = await newAdministrator(app);
  const send = async (path: string): Promise<void> => {
    const answer = await administer(app, administrator, 'POST', `accounts/${user.account.id}/${path}`);
    assert.equal((answer.json as AccountDetail).secondFactor, true, answer.text);
  };
  await send('reset-password');
  // Wait for this mail before the next one is sent, because two due mails arrive in any order.
  const first = await mailbox.next({ to: 'ada@example.org', subject: 'Set a new password' });
  await send('compromised');
  // The mail of a reset that the owner requests has a hint to ignore it, and the client IP.
  assert.match(first.text, /^An administrator of Example sent you this link/);
  assert.doesNotMatch(first.text, /do nothing|127\.0\.0\.1/);
  const [code = ''] = codePattern.exec(first.text) ?? [];
  const late = await app.call('POST', '/auth/password-resets/confirm', { json: { code, password: newPassword } });
  assert.equal(problemCode(late), 'code_invalid');
  await resetWith(app, mailbox, 'ada@example.org');
  assert.equal((await trySignIn(app, 'ada@example.org', undefined, newPassword)).status, 401);
  const right = codeAt(user.secret, app.clock.now());
  assert.equal((await trySignIn(app, 'ada@example.org', right, newPassword)).status, 200);
});
