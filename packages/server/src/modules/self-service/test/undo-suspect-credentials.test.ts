/** Undoing an email change removes what a thief added shortly before the change, and keeps what its owner used. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, factorPath, nextStep, otpHeader } from '../../../../test-kit/authenticator.ts';
import { codeIn, type ReceivedMail } from '../../../../test-kit/mailbox.ts';
import { basic, bearer, goodPassword, type Answered, type SignedIn } from '../../../../test-kit/new-app.ts';
import { addPasskey, signInOptions, tryPasskey } from '../../../../test-kit/passkeys.ts';
import type { SoftwarePasskey } from '../../../../test-kit/software-passkey.ts';

const owner = 'owner@example.com';
/** Two addresses of one trusted range, and a thief's. */
const [home, otherRoom, elsewhere] = ['192.0.2.1', '192.0.2.77', '203.0.113.9'];
const none = { authenticator: false, passkeys: [], recoveryCodes: 0 };

async function open(): Promise<AccountClient> {
  const client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1, ::1' });
  await client.app.createAccount(owner);
  await signInFrom(client, home);
  client.app.clock.advance({ days: 30 - limits.emailUndoSuspectDays });
  return client;
}

const signedIn = (answer: Answered): SignedIn => {
  assert.equal(answer.status, 200, answer.text);
  return answer.json as SignedIn;
};

async function signInFrom(client: AccountClient, clientIp: string, code?: string): Promise<SignedIn> {
  const headers = {
    ...basic(owner, goodPassword),
    'x-forwarded-for': clientIp,
    ...(code === undefined ? {} : { [otpHeader]: code }),
  };
  return signedIn(await client.app.call('POST', '/auth/token', { headers }));
}

async function usePasskey({ app }: AccountClient, clientIp: string, authenticator: SoftwarePasskey): Promise<SignedIn> {
  const json = { passkey: authenticator.get(await signInOptions(app)) };
  return signedIn(await app.call('POST', '/auth/token/passkey', { headers: { 'x-forwarded-for': clientIp }, json }));
}

async function useKey({ app }: AccountClient, clientIp: string, key: string): Promise<void> {
  const headers = { ...bearer(key), 'x-forwarded-for': clientIp };
  assert.equal((await app.call('GET', '/auth/forward', { headers })).status, 200);
  await app.service.services.uses.flush();
}

interface Undone {
  readonly apiKeys: readonly { nickname: string }[];
  readonly secondFactors: { readonly passkeys: readonly { name: string }[] };
}

/** The email address changes, and its owner undoes that. */
async function changeAndUndo(
  client: AccountClient,
  tokens: SignedIn,
): Promise<Undone & { readonly mail: ReceivedMail }> {
  const confirmed = await client.confirmEmailChange(await client.requestEmailChange(tokens, 'thief@example.com'));
  assert.equal(confirmed.status, 200, confirmed.text);
  const code = codeIn(await client.mailbox.next({ to: owner, subject: /email address.*was changed/ }));
  client.app.clock.advance({ seconds: 1 });
  const answer = await client.post('/auth/account/email/undo', { code, email: owner });
  assert.equal(answer.status, 200, answer.text);
  const mail = await client.mailbox.next({ to: owner, subject: /restored/ });
  return { ...(answer.json as Undone), mail };
}

const nicknames = ({ apiKeys }: Undone): string[] => apiKeys.map(({ nickname }) => nickname);

testOnBoth('a passkey and a key that a thief added before the change do not outlast the undo', async () => {
  await using client = await open();
  const { app } = client;
  const thief = await signInFrom(client, elsewhere);
  const { key } = await client.createKey(thief, 'thief’s');
  const { authenticator } = await addPasskey(app, thief);
  await usePasskey(client, elsewhere, authenticator);
  await useKey(client, elsewhere, key);
  app.clock.advance({ days: limits.emailUndoSuspectDays - 1 });
  const undone = await changeAndUndo(client, await usePasskey(client, elsewhere, authenticator));
  assert.deepEqual([undone.apiKeys, undone.secondFactors], [[], none]);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
  assert.equal(await client.isKeyAccepted(key), false);
  const actions = (await listAuditEvents(app.db)).map(({ action }) => action);
  assert.deepEqual(actions.slice(actions.indexOf('account.email_change_undone')), [
    'account.email_change_undone',
    'passkey.removed',
    'second_factor.removed',
    'api_key.deleted',
  ]);
  assert.equal((await client.confirmReset(codeIn(undone.mail))).status, 200);
  await client.signIn(owner, otherPassword);
  assertRejected(await tryPasskey(app, authenticator), 'passkey_rejected');
});

testOnBoth(
  'what its owner added and used from a range that was trusted before stays, and the response lists it',
  async () => {
    await using client = await open();
    const { app } = client;
    const user = await signInFrom(client, home);
    const key = await client.createKey(user, 'server');
    app.clock.advance({ seconds: 1 });
    const { authenticator } = await addPasskey(app, user);
    // A later use elsewhere does not matter.
    for (const clientIp of [otherRoom, elsewhere]) await usePasskey(client, clientIp, authenticator);
    const secret = await client.enrol(await usePasskey(client, home, authenticator));
    for (const clientIp of [home, elsewhere]) {
      await useKey(client, clientIp, key.key);
      app.clock.advance({ seconds: limits.lastUsedResolutionSeconds });
      await signInFrom(client, clientIp, codeAt(secret, app.clock.now()));
      nextStep(app);
    }
    app.clock.advance({ days: 2 });
    const thief = await signInFrom(client, elsewhere, codeAt(secret, app.clock.now()));
    const undone = await changeAndUndo(client, thief);
    assert.deepEqual(nicknames(undone), ['server']);
    const { passkeys, ...others } = undone.secondFactors;
    assert.deepEqual(
      [passkeys.map(({ name }) => name), others],
      [['laptop'], { authenticator: true, recoveryCodes: limits.recoveryCodesMax }],
    );
    assert.match(undone.mail.text, /authenticator apps 1, unused recovery codes 10, and these passkeys:\n\nlaptop \(/);
    const reset = await client.confirmReset(codeIn(undone.mail));
    assert.deepEqual((reset.json as Undone).secondFactors, undone.secondFactors);
    await usePasskey(client, home, authenticator);
    assert.equal(await client.isKeyAccepted(key.key), true);
  },
);

for (const [what, secondsMore, isKept] of [
  ['just before the time', 1, true],
  ['at its beginning', 0, false],
] as const) {
  test(`what was added ${what} and never used ${isKept ? 'stays' : 'goes'}`, async () => {
    await using client = await open();
    const { app } = client;
    const user = await signInFrom(client, home);
    await client.createKey(user, 'unused');
    const { recoveryCodes } = await addPasskey(app, user);
    app.clock.advance({ seconds: limits.emailUndoSuspectDays * 86_400 + secondsMore });
    const { apiKeys, secondFactors } = await changeAndUndo(client, await signInFrom(client, home, recoveryCodes[0]));
    assert.deepEqual([apiKeys.length, secondFactors.passkeys.length], isKept ? [1, 1] : [0, 0]);
  });
}

test('an authenticator app that was added beside an older passkey goes, and the passkey and its recovery codes stay', async () => {
  await using client = await open();
  const { app } = client;
  const { authenticator } = await addPasskey(app, await signInFrom(client, home));
  app.clock.advance({ days: limits.emailUndoSuspectDays });
  const secret = await client.enrol(await usePasskey(client, elsewhere, authenticator));
  app.clock.advance({ seconds: 60 });
  const thief = await signInFrom(client, elsewhere, codeAt(secret, app.clock.now()));
  const { secondFactors, mail } = await changeAndUndo(client, thief);
  const { passkeys, ...others } = secondFactors;
  assert.deepEqual([passkeys.length, others], [1, { authenticator: false, recoveryCodes: limits.recoveryCodesMax }]);
  assert.equal((await client.confirmReset(codeIn(mail))).status, 200);
  const headers = { ...basic(owner, otherPassword), [otpHeader]: codeAt(secret, app.clock.now()) };
  assertRejected(await app.call('POST', '/auth/token', { headers }), 'second_factor_invalid');
  await usePasskey(client, elsewhere, authenticator);
});

test('recovery codes that were replaced go, and the older authenticator app stays', async () => {
  await using client = await open();
  const { app } = client;
  const secret = await client.enrol(await signInFrom(client, home));
  app.clock.advance({ days: limits.emailUndoSuspectDays });
  const code = () => codeAt(secret, app.clock.now());
  const thief = await signInFrom(client, elsewhere, code());
  nextStep(app);
  const proof = { currentPassword: goodPassword, code: code() };
  const replaced = await client.as(thief, 'POST', '/auth/account/recovery-codes', proof);
  const [recoveryCode = ''] = (replaced.json as { recoveryCodes: string[] }).recoveryCodes;
  const { secondFactors, mail } = await changeAndUndo(client, thief);
  assert.deepEqual(secondFactors, { authenticator: true, passkeys: [], recoveryCodes: 0 });
  assert.equal((await client.confirmReset(codeIn(mail))).status, 200);
  const signIn = (otp: string) =>
    app.call('POST', '/auth/token', { headers: { ...basic(owner, otherPassword), [otpHeader]: otp } });
  assertRejected(await signIn(recoveryCode), 'second_factor_invalid');
  nextStep(app);
  assert.equal((await signIn(code())).status, 200);
});

test('a second factor from before stays in force, even if a thief has removed the passkey that came with it', async () => {
  await using client = await open();
  const { app } = client;
  const { passkey, authenticator, recoveryCodes } = await addPasskey(app, await signInFrom(client, home));
  app.clock.advance({ days: limits.emailUndoSuspectDays, seconds: 1 });
  const thief = await usePasskey(client, elsewhere, authenticator);
  await client.enrol(thief);
  assert.equal((await client.as(thief, 'DELETE', `/auth/passkeys/${passkey.id}`)).status, 204);
  const { secondFactors, mail } = await changeAndUndo(client, thief);
  assert.deepEqual(secondFactors, { ...none, recoveryCodes: limits.recoveryCodesMax });
  assert.equal((await client.confirmReset(codeIn(mail))).status, 200);
  assertRejected(await client.trySignIn(owner, otherPassword), 'second_factor_required');
  const headers = { ...basic(owner, otherPassword), [otpHeader]: recoveryCodes[0] ?? '' };
  assert.equal((await app.call('POST', '/auth/token', { headers })).status, 200);
});

test('a use of the previous secret from a trusted range does not vouch for a key that a thief has rotated', async () => {
  await using client = await open();
  const { app } = client;
  const key = await client.createKey(await signInFrom(client, home), 'server');
  await useKey(client, home, key.key);
  app.clock.advance({ days: limits.emailUndoSuspectDays });
  const thief = await signInFrom(client, elsewhere);
  const body = { overlapSeconds: 86_400 };
  assert.equal((await client.as(thief, 'POST', `/auth/api-keys/${key.id}/rotate`, body)).status, 200);
  await useKey(client, home, key.key);
  assert.deepEqual(nicknames(await changeAndUndo(client, thief)), []);
  assert.equal(await client.isKeyAccepted(key.key), false);
});

test('a range that a thief made trusted in the time vouches for nothing, whatever passwords the thief sets', async () => {
  await using client = await open();
  const { app } = client;
  const thief = await signInFrom(client, elsewhere);
  const headers = { ...bearer(thief.accessToken), 'x-forwarded-for': elsewhere };
  const json = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await app.call('PUT', '/auth/account/password', { headers, json })).status, 200);
  const back = { currentPassword: otherPassword, newPassword: goodPassword };
  assert.equal((await app.call('PUT', '/auth/account/password', { headers, json: back })).status, 200);
  const { key } = await client.createKey(thief, 'thief’s');
  app.clock.advance({ days: 1 });
  await useKey(client, elsewhere, key);
  const undone = await changeAndUndo(client, await signInFrom(client, elsewhere));
  assert.deepEqual(nicknames(undone), []);
});

test('a reset removes no second factor by itself, and names those that stay', async () => {
  await using client = await open();
  const { app } = client;
  const user = await signInFrom(client, home);
  const secret = await client.enrol(user);
  const reset = await client.confirmReset(await client.resetCode(owner));
  assert.deepEqual((reset.json as Undone).secondFactors, {
    authenticator: true,
    passkeys: [],
    recoveryCodes: limits.recoveryCodesMax,
  });
  assertRejected(await client.trySignIn(owner, otherPassword), 'second_factor_required');
  nextStep(app);
  const headers = { ...basic(owner, otherPassword), [otpHeader]: codeAt(secret, app.clock.now()) };
  const again = signedIn(await app.call('POST', '/auth/token', { headers }));
  nextStep(app);
  const proof = { currentPassword: otherPassword, code: codeAt(secret, app.clock.now()) };
  assert.equal((await client.as(again, 'DELETE', factorPath, proof)).status, 204);
});
