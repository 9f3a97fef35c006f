/** The mail about the first key of a program in a client IP range, and its link, which deletes the key. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { assertRejected, newAccountClient } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { DeviceClient, newDeviceClient, program } from '../../../../test-kit/device-client.ts';
import { operator, type SignedIn } from '../../../../test-kit/new-app.ts';
import { ApprovalLimits } from '../../rate-limits/approval-limits.ts';
import { readBuckets } from '../../rate-limits/store.ts';

const email = 'ada@example.com';
const path = '/auth/approvals/keys/remove';

async function fixture() {
  const client = await newAccountClient({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' });
  await client.app.service.services.programs.add(operator, program);
  const tokens = await client.newAccount(email);
  const at = new DeviceClient(client.app, tokens as unknown as SignedIn);
  /** Signs in with the program from a client IP address. @param by whose session approves @returns the key */
  const signIn = async (clientIp: string, by: object = tokens): Promise<string> => {
    const { device_code: deviceCode, user_code: code } = await at.begin({}, clientIp);
    await at.approve(code, {}, by as SignedIn);
    return (await at.fetch(deviceCode)).access_token;
  };
  return { client, at, signIn, tokens, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

test('the first key in a client IP range sends a mail, whose link deletes the key', async () => {
  await using fixed = await fixture();
  const { client, at, signIn } = fixed;
  const key = await signIn('192.0.2.1');
  const code = await client.nextCode(email, /got an API key/);
  const mail = client.mailbox.messages.at(-1)?.text ?? '';
  for (const part of ['Acme CLI', '192.0.2.0/24', 'orders:read', '/account/remove-key#krvc_'])
    assert.ok(mail.includes(part), part);
  assert.equal(mail.includes(key), false, 'the mail has no secret');
  const again = await signIn('192.0.2.99');
  const other = await signIn('198.51.100.1');
  await client.nextCode(email, /got an API key/);
  await client.untilOutboxEmpty();
  assert.equal(client.mailbox.messages.filter(({ subject }) => subject.includes('got an API key')).length, 2);

  assertRejected(await client.post(path, { code, email: 'other@example.com' }), 'email_wrong');
  assert.equal(await at.isAccepted(key), true);
  const removed = await client.post(path, { code, email: ' Ada@Example.com ' });
  assert.deepEqual([removed.status, removed.json], [200, { message: 'The API key has been deleted.' }]);
  const accepted = await Promise.all([key, again, other].map((one) => at.isAccepted(one)));
  assert.deepEqual(accepted, [false, true, true]);
  assertRejected(await client.post(path, { code, email }), 'code_invalid');
});

test('the link outlasts a change of the password, works for a key that was deleted before, and expires', async () => {
  await using fixed = await fixture();
  const { client, at, signIn, tokens } = fixed;
  const key = await signIn('192.0.2.1');
  const code = await client.nextCode(email, /got an API key/);
  await client.confirmReset(await client.resetCode(email));
  assert.equal(await at.isAccepted(key), true);
  assert.equal((await client.post(path, { code, email })).status, 200);
  assert.equal(await at.isAccepted(key), false);
  assert.equal(await client.isSignedIn(tokens), false);

  const after = await client.signIn(email, 'a quiet harbour under seven moons');
  const second = new DeviceClient(client.app, after as unknown as SignedIn);
  const { device_code: deviceCode, user_code: userCode } = await second.begin({}, '203.0.113.1');
  await second.approve(userCode);
  const { key_id: id } = await second.fetch(deviceCode);
  const late = await client.nextCode(email, /got an API key/);
  assert.equal((await client.as(after, 'DELETE', `/auth/api-keys/${id}`)).status, 200);
  client.app.clock.advance({ seconds: limits.keyRemovalCodeSeconds - 60 });
  assert.equal((await client.post(path, { code: late, email })).status, 200);
  client.app.clock.advance({ seconds: 61 });
  assertRejected(await client.post(path, { code: late, email }), 'code_invalid');
});

testOnBoth('after a removal by the link, the next key in the client IP range sends a mail again', async () => {
  await using fixed = await fixture();
  const { client, signIn, tokens } = fixed;
  await signIn('192.0.2.1');
  const code = await client.nextCode(email, /got an API key/);
  assert.equal((await client.post(path, { code, email })).status, 200);
  await signIn('192.0.2.2');
  const again = await client.nextCode(email, /got an API key/);
  const { json } = await client.as(tokens, 'GET', '/auth/api-keys');
  const [{ id } = assert.fail()] = (json as { apiKeys: { id: number }[] }).apiKeys;
  assert.equal((await client.as(tokens, 'DELETE', `/auth/api-keys/${id}`)).status, 200);
  assert.equal((await client.post(path, { code: again, email })).status, 200);
  await signIn('192.0.2.3');
  await client.nextCode(email, /got an API key/);
});

testOnBoth('keys from many client IP ranges send a bounded number of mails, and later ones send theirs', async () => {
  await using fixed = await fixture();
  const { client, signIn } = fixed;
  const max = limits.keyMailsPerHourMax;
  const mails = async (): Promise<number> => {
    await client.untilOutboxEmpty();
    return client.mailbox.messages.filter(({ subject }) => subject.includes('got an API key')).length;
  };
  for (let n = 0; n < max + 3; n++) await signIn(`198.51.${n}.1`);
  assert.equal(await mails(), max);
  client.app.clock.advance({ seconds: 3_600 });
  const later = await client.signIn(email);
  await signIn('198.51.0.2', later);
  assert.equal(await mails(), max);
  await signIn(`198.51.${max}.2`, later);
  assert.equal(await mails(), max + 1);
});

testOnBoth('without a mail server, a key does not make its client IP range one that sends no mail', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode, user_code: code } = await at.begin({}, '192.0.2.1');
  const { clientRange } = await at.approve(code);
  await at.fetch(deviceCode);
  const { clock, db, installation } = at.app;
  const approvalLimits = new ApprovalLimits({
    clock,
    db,
    bucketHash: installation.keys.rateLimitBucket,
    enabled: true,
  });
  const mark = approvalLimits.rangeMark(at.person.account.id, clientRange);
  assert.deepEqual(await readBuckets(db, [mark]), [undefined]);
});
