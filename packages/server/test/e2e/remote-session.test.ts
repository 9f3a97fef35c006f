/** `keyreeve --url`: sign-in, the file with the session, refreshes, and the sign-in that changes need. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { test as testOnEach, testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { codeAt, enrol, nextStep, signInWith } from '../../test-kit/authenticator.ts';
import { goodPassword, operator } from '../../test-kit/new-app.ts';
import { Secret } from '../../src/foundation/crypto/secret.ts';
import { databaseIn, environmentFor, keyreeveBin, runProcess } from './program.ts';
import { assertRefused, email, newRemote, type Remote } from './remote-kit.ts';
import { noTerminal, Terminal } from './terminal.ts';

const stateOf = ({ folder }: Pick<Remote, 'folder'>): string => join(folder, 'state', 'keyreeve');

/** The path of the only session. */
function sessionPath(at: Remote): string {
  const [name, ...others] = readdirSync(stateOf(at)).filter((each) => each.endsWith('.json'));
  assert.deepEqual(others, []);
  return join(stateOf(at), name ?? assert.fail('no session'));
}

testOnEach('a sign-in keeps the session in a file of mode 0600, and a sign-out ends it', async () => {
  await using at = await newRemote();
  assertRefused(await at.remote(['account', 'list']), 1, /not signed in; sign in: keyreeve --url \S+ login/);
  assert.equal(existsSync(stateOf(at)), false);
  const signedIn = await at.remote(['login', email, '--password-stdin'], `${goodPassword}\n`);
  assert.deepEqual(signedIn, { status: 0, stdout: `Signed in to ${at.app.url} as ${email}.\n`, stderr: '' });
  const path = sessionPath(at);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(stateOf(at)).mode & 0o777, 0o700);
  assert.ok(!readFileSync(path, 'utf8').includes(goodPassword));
  assert.equal((await at.remote(['account', 'list'])).status, 0);
  // A slash at the end names the same service.
  assert.equal((await at.remote(['--url', `${at.app.url}/`, 'account', 'list'])).status, 0);
  const { refreshToken } = JSON.parse(readFileSync(path, 'utf8')) as { refreshToken: string };
  assert.equal((await at.remote(['logout'])).stdout, `Signed out of ${at.app.url}.\n`);
  assert.equal(existsSync(path), false);
  const refresh = await at.app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal(refresh.status, 401);
  assertRefused(await at.remote(['logout']), 1, /not signed in/);
  assert.equal(existsSync(databaseIn(at.folder)), false);
});

testOnEach('only an administrator with the right password and second factor is signed in', async () => {
  await using at = await newRemote();
  const login = (name: string, input: string): ReturnType<Remote['remote']> =>
    at.remote(['login', name, '--password-stdin'], input);
  assertRefused(await login(email, 'wrong'), 1, /^keyreeve: The email address or the password is wrong\.\n$/);
  const { id } = await at.app.createAccount('user@example.com');
  assertRefused(await login('user@example.com', goodPassword), 1, /user@example\.com is not an administrator/);
  assert.deepEqual(
    await at.app.service.services.tokenPairs.listSessions({ kind: 'account', accountId: id, sessionId: '' }),
    [],
  );
  assertRefused(await at.remote(['login', email]), 64, /use --password-stdin/);
  const { secret } = await enrol(at.app, await signInWith(at.app, email));
  nextStep(at.app);
  assertRefused(await login(email, goodPassword), 64, /write a one-time code to the second line of standard input/);
  assertRefused(
    await login(email, `${goodPassword}\n000000`),
    1,
    /^keyreeve: The code of the second factor is wrong, expired or already used\.\n$/,
  );
  assert.equal(existsSync(stateOf(at)), false);
  const code = codeAt(secret, at.app.clock.now());
  assert.equal((await login(email, `${goodPassword}\n${code}\n`)).stderr, '');
});

testOnEach(
  'a session file that another user could have written or read is rejected, and no request is sent',
  async () => {
    await using at = await newRemote();
    await at.login();
    const path = sessionPath(at);
    const list = (): ReturnType<Remote['remote']> => at.remote(['account', 'list']);
    const requests = () => at.app.logLines.filter((line) => line.includes('"event":"request"')).length;
    const before = requests();
    chmodSync(path, 0o640);
    assertRefused(await list(), 1, /can be read or changed by other users; it must have mode 0600/);
    chmodSync(path, 0o602);
    assertRefused(await list(), 1, /can be read or changed by other users/);
    chmodSync(path, 0o600);
    const content = readFileSync(path, 'utf8');
    for (const [planted, reason] of [
      [content.replace(at.app.url, 'https://evil.example.com'), /is not the session of this URL/],
      [content.replace(/"accessToken":"/, '$&a\\r\\nX-Evil: '), /is not complete/],
      ['{"url":', /is not the session of this URL/],
      ['null', /is not the session of this URL/],
      [' '.repeat(20_000), /is too long/],
    ] as const) {
      writeFileSync(path, planted);
      assertRefused(await list(), 1, reason);
    }
    writeFileSync(path, content);
    renameSync(path, `${path}.moved`);
    symlinkSync(`${path}.moved`, path);
    assertRefused(await list(), 1, /is a symbolic link/);
    renameSync(`${path}.moved`, path);
    chmodSync(stateOf(at), 0o777);
    assertRefused(await list(), 1, /must be a folder of this user that no other user can change/);
    assert.equal(requests(), before);
    assertRefused(
      await at.remote(['login', email, '--password-stdin'], goodPassword),
      1,
      /must be a folder of this user/,
    );
    chmodSync(stateOf(at), 0o700);
    assert.equal((await list()).status, 0);
    // A rejected file is replaced by the next sign-in.
    chmodSync(path, 0o644);
    await at.login();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(requests() > before);
  },
);

test('a session file of another user is rejected', { skip: process.getuid?.() !== 0 && 'needs root' }, async () => {
  await using at = await newRemote();
  await at.login();
  const path = sessionPath(at);
  chownSync(path, 65_534, 65_534);
  assertRefused(await at.remote(['account', 'list']), 1, /belongs to another user/);
  chownSync(path, 0, 0);
  chownSync(stateOf(at), 65_534, 65_534);
  assertRefused(await at.remote(['account', 'list']), 1, /must be a folder of this user/);
});

/** Requests, by the log of the service. */
const refreshesOf = ({ app }: Remote): number =>
  app.logLines.filter((line) => line.includes('/auth/token/refresh')).length;

testOnBoth('commands beside each other refresh an expired access token once, and keep the session', async () => {
  await using at = await newRemote();
  await at.login();
  at.app.clock.advance({ seconds: 700 });
  const list = () =>
    runProcess(['--url', at.app.url, 'account', 'list'], { folder: at.folder, environment: at.environment });
  const before = refreshesOf(at);
  const exits = await Promise.all(Array.from({ length: 4 }, list));
  // The service gives the same successor for each use of a refresh token within the grace time.
  assert.equal(refreshesOf(at) - before, 1);
  assert.deepEqual(new Set(exits.map(({ status, stderr }) => `${status}${stderr}`)), new Set(['0']));
  // Beyond the time in which the service accepts an earlier refresh token again.
  at.app.clock.advance({ seconds: 700 });
  assert.equal((await at.remote(['account', 'list'])).stderr, '');
});

/** Passes requests on, and calls back after each response before it sends it. */
async function startProxy(target: string, between: (path: string) => void): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(async (request, response) => {
    const headers = new Headers();
    for (const name of ['authorization', 'content-type'] as const)
      if (request.headers[name] !== undefined) headers.set(name, request.headers[name]);
    const body = request.method === 'GET' ? {} : { body: await text(request) };
    const { method = '', url = '' } = request;
    const answer = await fetch(new URL(url, target), { method, headers, ...body });
    const content = await answer.text();
    between(url);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

testOnBoth('a command sends nothing as an administrator who signs in while it runs', async () => {
  await using at = await newRemote();
  const { accounts, directory } = at.app.service.services;
  await accounts.create(operator, 'eve@example.com', new Secret(goodPassword), 'admin');
  const { id } = await at.app.createAccount('lara@example.com');
  let change = (): void => undefined;
  await using proxy = await startProxy(at.app.url, (path) => path.startsWith('/admin/') && change());
  const run = (args: readonly string[], input?: string) => at.remote(['--url', proxy.url, ...args], input);
  for (const name of ['eve@example.com', email]) {
    if (name === email) renameSync(sessionPath(at), `${sessionPath(at)}.eve`);
    assert.equal((await run(['login', name, '--password-stdin'], goodPassword)).stderr, '');
  }
  const path = sessionPath(at);
  const own = readFileSync(path, 'utf8');
  change = () => copyFileSync(`${path}.eve`, path);
  const disable = ['account', 'disable', 'lara@example.com'];
  assertRefused(await run(disable), 1, /another account has signed in meanwhile; sign in: keyreeve --url /);
  const stateOfLara = async () => (await directory.read(id)).disabledAt;
  assert.equal(await stateOfLara(), null);
  assert.ok(!at.app.logLines.some((line) => line.includes(`${id}/disable`)), 'the change was not sent');

  change = () => undefined;
  writeFileSync(path, own);
  assert.equal((await run(disable)).stderr, '');
  assert.notEqual(await stateOfLara(), null);
});

testOnEach('a session that has ended is forgotten', async () => {
  await using at = await newRemote();
  await at.login();
  const path = sessionPath(at);
  await at.app.service.services.accounts.endSessions({ kind: 'operator' }, at.accountId);
  assertRefused(
    await at.remote(['account', 'list', '--json']),
    1,
    /^\{"code":"not_signed_in","detail":"the session has ended; sign in: /,
  );
  assert.equal(existsSync(path), false);
});

testOnEach('a change needs a recent sign-in, which a script has to repeat', async () => {
  await using at = await newRemote();
  await at.login();
  at.app.clock.advance({ seconds: 301 });
  assert.equal((await at.remote(['scope', 'list'])).status, 0);
  const set = ['scope', 'set', 'orders:read'];
  assertRefused(
    await at.remote(set),
    1,
    /This change needs a sign-in within the last 5 minutes\. Sign in again: keyreeve --url/,
  );
  const { stderr } = await at.remote([...set, '--json']);
  const { code, exitCode } = JSON.parse(stderr) as { code: string; exitCode: number };
  assert.deepEqual([code, exitCode], ['reauth_required', 1]);
  await at.login();
  assert.equal((await at.remote(set)).stderr, '');
});

suite('on a terminal', { skip: noTerminal }, () => {
  testOnEach('a change asks for the password, which is never shown, and the earlier session ends', async () => {
    await using at = await newRemote();
    await at.login();
    at.app.clock.advance({ seconds: 301 });
    const line = `'${process.execPath}' '${keyreeveBin}' --url ${at.app.url} scope set orders:read`;
    await using terminal = Terminal.start(line, at.folder, environmentFor(at.folder, at.environment));
    await terminal.answer(`Password of ${email} at ${at.app.url}: `, `${goodPassword}\r`);
    const { status, stdout } = await terminal.exited();
    assert.equal(status, 0, stdout);
    assert.match(stdout, /The scope orders:read is declared/);
    assert.ok(!stdout.includes('wombat'), stdout);
    const sessions = JSON.parse((await at.remote(['session', 'list', email, '--json'])).stdout) as unknown[];
    assert.equal(sessions.length, 1);
  });

  testOnEach('a sign-in asks for the password and the second factor', async () => {
    await using at = await newRemote();
    const { secret } = await enrol(at.app, await signInWith(at.app, email));
    nextStep(at.app);
    const line = `'${process.execPath}' '${keyreeveBin}' --url ${at.app.url} login ${email}`;
    await using terminal = Terminal.start(line, at.folder, environmentFor(at.folder, at.environment));
    await terminal.answer(`Password of ${email} at ${at.app.url}: `, `${goodPassword}\r`);
    await terminal.answer('One-time code or recovery code: ', `${codeAt(secret, at.app.clock.now())}\r`);
    const { status, stdout } = await terminal.exited();
    assert.equal(status, 0, stdout);
    assert.equal((await at.remote(['account', 'list'])).status, 0);
  });
});

test('XDG_STATE_HOME that is no absolute path is ignored', async () => {
  await using at = await newRemote();
  mkdirSync(join(at.folder, 'relative'));
  const environment = { XDG_STATE_HOME: 'relative', HOME: at.folder };
  const { status, stderr } = await runProcess(['--url', at.app.url, 'login', email, '--password-stdin'], {
    folder: at.folder,
    environment,
    input: goodPassword,
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.deepEqual(readdirSync(join(at.folder, 'relative')), []);
});
