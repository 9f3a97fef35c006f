/** The client of the account and key endpoints, on a service in this process. */
import assert from 'node:assert/strict';
import type * as contract from '@keyreeve/contract';
import { newApp } from '../../server/test-kit/new-app.ts';
import { test } from '../../server/test-kit/app-on-each-database.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { KeyreeveError, Management, Session, signIn, type Keys, type TokenPair } from '../src/account.ts';
import type * as types from '../src/account-types.ts';
import { userAgent } from '../src/user-agent.ts';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';

type Fits<To, From extends To> = From;
/** Fails to compile if a type of the library does not fit the contract. */
export type ComparedTypes = [
  Fits<types.TokenPair, contract.TokenPair>,
  Fits<types.ListedKey, contract.ListedKey>,
  Fits<types.CreatedKey, contract.CreatedKey>,
  Fits<types.KeyDetails, contract.KeyDetails>,
  Fits<types.RotatedKey, contract.RotatedKey>,
  Fits<types.ListedSession, contract.ListedSession>,
  Fits<contract.RotationBody, types.Rotation>,
  Fits<contract.NewServiceAccountKeyBody, types.NewKey>,
  Fits<types.KeySummary, contract.ListedKeyFull>,
  Fits<types.ServiceAccount, contract.ServiceAccount>,
  Fits<contract.KeyLimits, types.KeyLimits>,
  Fits<contract.NewPortalSessionBody, types.NewPortalSession>,
  Fits<types.CreatedPortalSession, contract.CreatedPortalSession>,
  Fits<contract.ErrorCode, types.ManagementErrorCode>,
];

/** Not ASCII: Basic credentials are UTF-8. */
const password = 'wömbat orbit velvet 語 42';

const isError = (code: string, status: number) => (error: unknown) =>
  error instanceof KeyreeveError && error.code === code && error.status === status && error.message !== '';

async function fixture(environment = {}) {
  const app = await newApp({ environment });
  const { email } = await app.createAccount('you@example.com', password);
  const kept: TokenPair[] = [];
  const options = { url: app.url, onTokens: (tokens: TokenPair) => void kept.push(tokens) };
  const session = await signIn(options, { email, password });
  return { app, email, options, session, kept, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('a session creates, reads, changes, rotates, lists and deletes keys', async () => {
  await using at = await fixture();
  const { session } = at;
  const { id, key, nickname } = await session.createKey({ nickname: 'worker', scopes: ['orders:read'] });
  assert.match(key, /^krv_/);
  assert.equal(nickname, 'worker');
  assert.deepEqual((await session.changeKey(id, { scopes: [], addresses: ['192.0.2.0/24'] })).scopes, []);
  assert.deepEqual((await session.getKey(id)).addresses, ['192.0.2.0/24']);
  const rotated = await session.rotateKey(id, { overlapSeconds: 0 });
  assert.notEqual(rotated.key, key);
  assert.equal(rotated.previousExpiresAt, null);
  assert.deepEqual(
    (await session.listKeys()).map((one) => one.id),
    [id],
  );
  await session.deleteKey(id);
  assert.deepEqual(await session.listKeys(), []);
  await assert.rejects(session.deleteKey(id), isError('key_not_found', 404));
});

test('every request has the User-Agent of the library, except in a browser', async () => {
  const tokens = { accessToken: 'a.b.c', refreshToken: 'krvr_x' };
  await using server = await startRawServer((_, socket) => socket.write(responseOf({ body: tokens })));
  const session = await signIn({ url: server.url }, { email: 'you@example.com', password });
  await session.refresh();
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.get('user-agent')),
    ['keyreeve-js', 'keyreeve-js'],
  );
  assert.deepEqual(userAgent('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'), {});
});

test('a session lists and ends sessions, and signs out', async () => {
  await using at = await fixture();
  const other = await signIn(at.options, { email: at.email, password });
  const third = await signIn(at.options, { email: at.email, password });
  const listed = await at.session.listSessions();
  assert.deepEqual([listed.length, listed.filter(({ current }) => current).length], [3, 1]);
  const [{ id } = { id: '' }] = (await other.listSessions()).filter(({ current }) => current);
  await at.session.endSession(id);
  await assert.rejects(other.listKeys(), isError('invalid_refresh_token', 401));
  assert.equal(await at.session.endOtherSessions(), 1);
  await assert.rejects(third.listKeys(), isError('invalid_refresh_token', 401));
  await at.session.signOut();
  await assert.rejects(at.session.listKeys(), isError('invalid_refresh_token', 401));
});

test('a backend signs in a person with the IP address of the browser', async () => {
  await using at = await fixture({ KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' });
  const session = await signIn(at.options, { email: at.email, password, address: '203.0.113.9' });
  const [current] = (await session.listSessions()).filter((one) => one.current);
  assert.equal(current?.clientIp, '203.0.113.9');
  for (const address of ['', '203.0.113.9:443', '203.0.113.9, 127.0.0.1', 'unknown'])
    await assert.rejects(signIn(at.options, { email: at.email, password, address }), TypeError);
});

test('errors have the code of the service', async () => {
  await using at = await fixture();
  await assert.rejects(signIn(at.options, { email: at.email, password: 'wrong' }), isError('invalid_credentials', 401));
  await at.session.createKey({ nickname: 'a' });
  await assert.rejects(at.session.createKey({ nickname: 'a' }), isError('nickname_taken', 409));
  await assert.rejects(at.session.createKey({ nickname: '' }), isError('invalid_request', 400));
  await assert.rejects(at.session.endSession('ses_unknown/../x'), isError('session_not_found', 404));
});

test('sixteen calls with an expired access token refresh once', async () => {
  await using at = await fixture();
  const before = at.session.tokens;
  at.app.clock.advance({ seconds: 700 });
  const lists = await Promise.all(Array.from({ length: 16 }, () => at.session.listKeys()));
  assert.equal(lists.length, 16);
  assert.equal(at.kept.length, 1);
  assert.deepEqual(at.session.tokens, at.kept[0]);
  assert.notEqual(at.session.tokens.refreshToken, before.refreshToken);
  const resumed = new Session(at.options, at.session.tokens);
  assert.deepEqual(await resumed.listKeys(), []);
});

test('without a response the code is unavailable, and the request is sent once', async () => {
  await using server = await startRawServer((_, socket) => socket.destroy());
  const session = new Session({ url: server.url }, { accessToken: 'a', refreshToken: 'b' });
  await assert.rejects(session.listKeys(), isError('unavailable', 0));
  assert.equal(server.requests.length, 1);
  assert.throws(() => new Session({ url: 'http://auth.example.com' }, session.tokens), /plain HTTP/);
});

test('a success without content is no sign-in, no key and no portal session', async () => {
  for (const body of ['', '<html>', 'null']) {
    await using server = await startRawServer((_, socket) => socket.write(responseOf({ status: 201, body })));
    await assert.rejects(
      signIn({ url: server.url }, { email: 'you@example.com', password }),
      isError('unavailable', 201),
    );
    const management = new Management({ url: server.url, managementKey: 'krv_management' });
    await assert.rejects(management.keys('acc_1').create({ nickname: 'a' }), isError('unavailable', 201));
    const session = { externalId: 'tenant_182', capabilities: [], origin: 'https://app.example.com' };
    await assert.rejects(management.createPortalSession(session), isError('unavailable', 201));
  }
});

test('a session manages service accounts, and lists its keys in pages', async () => {
  await using at = await fixture();
  const management = new Management(at.session);
  const { id } = await management.createServiceAccount({ name: 'nightly export' });
  await management.keys(id).create({ nickname: 'export' });
  at.app.clock.advance({ seconds: 700 });
  assert.equal((await Array.fromAsync(management.keys(id).list({ search: 'export' }))).length, 1);
  for (const other of ['..', 'a/b', '']) assert.throws(() => management.keys(other), TypeError);
  for (const nickname of ['a', 'b']) await at.session.createKey({ nickname });
  const page = await at.session.keys.page({ limit: 1, sort: 'nickname' });
  assert.deepEqual([page.entries[0]?.nickname, typeof page.nextCursor], ['a', 'string']);
});

test('a signal and a time limit end a call, and the reason is in the message', async () => {
  await using silent = await startRawServer(() => undefined);
  const keys = (url: string): Keys => new Management({ url, managementKey: () => 'krv_management' }).keys('acc_1');
  // oxlint-disable-next-line keyreeve/no-test-bounds -- no event ends the call before
  await assert.rejects(keys(silent.url).get(1, { timeoutMs: 1 }), isError('unavailable', 0));
  const controller = new AbortController();
  const call = keys(silent.url).get(1, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, { name: 'AbortError' });
  await assert.rejects(keys(`http://127.0.0.1:${await freePort()}`).get(1), {
    message: /^Keyreeve gave no response: .*ECONNREFUSED/,
  });
});

test('what is no id of a key leads to no other path', async () => {
  await using silent = await startRawServer(() => undefined);
  const keys = new Management({ url: silent.url, managementKey: () => 'krv_management' }).keys('acc_1');
  for (const id of ['../../acc_2/api-keys/7', '%2e%2e', '7', '', 0, -1, 1.5, Number.NaN, 2 ** 53] as number[])
    for (const call of [keys.get(id), keys.change(id, {}), keys.rotate(id), keys.delete(id)])
      await assert.rejects(call, TypeError, String(id));
});
