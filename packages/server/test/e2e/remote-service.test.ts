/** `keyreeve --url` and services that are hostile, fail, or are not Keyreeve. */
import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { responseOf, startRawServer, type Answerer, type ReplayServer } from '../../../conformance/replay-server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { tls, tlsPath } from '../../test-kit/tls.ts';
import {
  databaseIn,
  environmentFor,
  keyreeveBin,
  runInHost,
  runProcess,
  type Environment,
  type Exit,
} from './program.ts';
import { assertRefused } from './remote-kit.ts';
import { noTerminal, Terminal } from './terminal.ts';
import { existsSync, readdirSync } from 'node:fs';

const problem = (status: number, code: string, detail = 'Detail.') =>
  responseOf({ status, body: { type: `/problems/${code}`, title: 'T', status, detail, code } });
const json = (body: unknown) => responseOf({ body });

const own = {
  id: 'acc_4mW1kq0ZbYp7sT2xUvN8Rd',
  email: 'ada@example.com',
  role: 'admin',
  createdAt: '2026-11-21T09:30:00.000Z',
  verified: true,
  secondFactor: false,
  authenticator: false,
  passkeys: 0,
  requiresSecondFactor: false,
  language: null,
  limits: null,
  quotaUse: null,
};

/** A service that signs in anyone, and answers other requests as the test says. */
interface Hostile extends AsyncDisposable {
  readonly server: ReplayServer;
  readonly folder: string;
  readonly environment: Environment;
  run(...args: readonly string[]): Promise<Exit>;
}

async function newHostile(answer: Answerer): Promise<Hostile> {
  const temp = newTempFolder();
  const server = await startRawServer((request, socket, count) => {
    const [, path] = request.line.split(' ');
    if (path === '/auth/token') socket.write(json({ accessToken: 'a.b.c', refreshToken: 'krvr_x' }));
    else if (path === '/auth/account') socket.write(json(own));
    else answer(request, socket, count);
  });
  const environment = { XDG_STATE_HOME: join(temp.path, 'state') };
  const run = (...args: readonly string[]): Promise<Exit> =>
    runInHost(['--url', server.url, ...args], { folder: temp.path, environment, input: 'password' });
  assert.equal((await run('login', 'ada@example.com', '--password-stdin')).stderr, '');
  return {
    server,
    folder: temp.path,
    environment,
    run,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      assert.equal(existsSync(databaseIn(temp.path)), false);
      temp[Symbol.dispose]();
    },
  };
}

const escape = '\u001b[2J\u009b31m\u0007\r\nkeyreeve: done\b';
const hostileText = `a${escape}`;

test('control characters of a service do not reach the terminal, in a table, a line, JSON or an error', async () => {
  const account = { ...own, kind: 'person', hasPassword: true, updatedAt: own.createdAt, disabledAt: null };
  const hostile = {
    ...account,
    email: `a${escape}`,
    role: `r${escape}`,
    name: escape,
    externalId: null,
    creatorId: null,
  };
  const detail = { ...hostile, apiKeyCount: 1, sessionCount: 0, entitlements: [escape], emailChanges: [] };
  await using at = await newHostile((request, socket) => {
    const [method, path = ''] = request.line.split(' ');
    if (method === 'POST') socket.write(problem(409, 'last_administrator', `D${escape}`));
    else if (path.startsWith('/admin/accounts/')) socket.write(json(detail));
    else socket.write(json({ accounts: [hostile], nextCursor: null }));
  });
  for (const args of [
    ['account', 'list'],
    ['account', 'list', '--json'],
    ['account', 'show', own.id],
    ['account', 'entitlements', own.id],
    ['account', 'disable', own.id],
    ['account', 'disable', own.id, '--json'],
    ['account', 'delete', own.id],
  ]) {
    const { stdout, stderr } = await at.run(...args);
    assert.notEqual(stdout + stderr, '');
    assert.doesNotMatch(stdout + stderr, /(?!\n)\p{Cc}/u, args.join(' '));
    assert.doesNotMatch(stdout + stderr, /^keyreeve: done/m, args.join(' '));
  }
});

test('control characters of an export do not reach the terminal', { skip: noTerminal }, async () => {
  const type = [['Content-Type', 'application/jsonl; charset=utf-8']] as const;
  await using at = await newHostile((_, socket) =>
    socket.write(responseOf({ headers: type, body: `${hostileText}\n` })),
  );
  const line = `'${process.execPath}' '${keyreeveBin}' --url ${at.server.url} audit export`;
  await using terminal = Terminal.start(line, at.folder, environmentFor(at.folder, at.environment));
  const { status, stdout } = await terminal.exited();
  assert.deepEqual([status, stdout], [0, 'a�[2J�31m�\r\nkeyreeve: done�\r\n']);
  assert.equal((await at.run('audit', 'export')).stdout, `${hostileText}\n`);
});

suite('the command reports that the outcome of a change is unknown, and exits with status 1', () => {
  const answers: Readonly<Record<string, Answerer>> = {
    'the connection ends': (_, socket) => socket.destroy(),
    'the response ends early': (_, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"mess'),
    'the service is unavailable': (_, socket) => socket.write(problem(503, 'unavailable')),
    'the service has an internal error': (_, socket) => socket.write(problem(500, 'internal_error')),
    'a proxy answers': (_, socket) => socket.write('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5\r\n\r\nnginx'),
    'the content is another one': (_, socket) => socket.write(json({ deleted: true })),
    'a page': (_, socket) => socket.write(responseOf({ body: '<html>' })),
  };
  for (const [name, answer] of Object.entries(answers))
    test(name, async () => {
      await using at = await newHostile((request, socket, count) => {
        if (request.line.startsWith('DELETE ')) answer(request, socket, count);
        else socket.write(json({ id: own.id }));
      });
      const remove = ['webhook', 'delete', 'whe_0000000000000000000000'];
      // Its response has no content.
      const args = name === 'the content is another one' ? ['scope', 'delete', 'a'] : remove;
      assertRefused(
        await at.run(...args),
        1,
        /so the change may be in effect; check, and repeat the command if it is not\n$/,
      );
      const { stderr, status } = await at.run(...args, '--json');
      const { code, mayBeInEffect, exitCode } = JSON.parse(stderr) as Record<string, unknown>;
      assert.deepEqual([status, code, mayBeInEffect, exitCode], [1, 'outcome_unknown', true, 1]);
    });
});

suite('a response that is not one of Keyreeve is an error', () => {
  const answers: Readonly<Record<string, readonly [Answerer, RegExp]>> = {
    'a redirect, which is not followed': [
      (_, socket) => socket.write('HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
      /answered with a redirect \(302\), which this command does not follow; check the URL/,
    ],
    'a page': [
      (_, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>'),
      /gave a response that is not one of this release of Keyreeve; check the URL/,
    ],
    'an error of another program': [
      (_, socket) => socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\n\r\n{"code":"nope"}'),
      /not one of this release of Keyreeve \(status 404\); check the URL/,
    ],
    'other members': [
      (_, socket) => socket.write(json({ scopes: [{ name: { evil: 1 } }] })),
      /not one of this release/,
    ],
    'an endless response': [
      (_, socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n');
        const part = Buffer.alloc(1_048_576, ' ');
        const more = (): void => void (socket.destroyed || socket.write(part, () => more()));
        more();
      },
      /gave no response: the response is too long/,
    ],
  };
  for (const [name, [answer, reason]] of Object.entries(answers))
    test(name, async () => {
      await using at = await newHostile(answer);
      assertRefused(await at.run('scope', 'list'), 1, reason);
      assert.deepEqual(
        at.server.requests.filter(({ line }) => line.includes('elsewhere')),
        [],
      );
    });

  test('a later release with more members and other values is none', async () => {
    const scope = { name: 'a', description: '', entitled: false, createdAt: own.createdAt, updatedAt: own.createdAt };
    await using at = await newHostile((_, socket) =>
      socket.write(json({ scopes: [{ ...scope, deletedAt: null, colour: 1 }], total: 1 })),
    );
    assert.equal((await at.run('scope', 'list')).stdout.split('\n').at(-2), '1 scope');
  });
});

test('names and ids cannot lead a request to another path', async () => {
  await using at = await newHostile((_, socket) => socket.write(problem(404, 'scope_not_found')));
  for (const name of ['..', '.', ''])
    assertRefused(await at.run('scope', 'delete', name), 64, /is not an id or a name/);
  await at.run('scope', 'delete', '../accounts?x#y');
  assert.equal(at.server.requests.at(-1)?.line, 'DELETE /admin/scopes/..%2Faccounts%3Fx%23y HTTP/1.1');
});

suite('nothing happens', () => {
  const cases: readonly (readonly [args: string, reason: RegExp])[] = [
    [
      '--url https://ada:secret@auth.example.com account list',
      /^keyreeve: --url must be like https:\/\/a\.example\.com, without user, query and fragment\n$/,
    ],
    ['--url https://auth.example.com/?a=b account list', /without user, query and fragment/],
    ['--url auth.example.com account list', /--url must be like/],
    ['--url file:///etc/passwd account list', /--url must be like/],
    [
      '--url http://auth.example.com account list',
      /is plain HTTP, so the network would see the credential; use https\n$/,
    ],
    [
      '--url https://auth.example.com backup --to a',
      /keyreeve backup works only on the machine of the service, without --url and --key-file/,
    ],
    [
      '--url https://auth.example.com account create a@example.com',
      /keyreeve account create works only on the machine/,
    ],
    ['--url https://auth.example.com serve', /keyreeve serve works only on the machine/],
    [
      '--url https://auth.example.com audit export --until 2026-01-01 --output a --then-forget',
      /--then-forget works only on the machine/,
    ],
    ['--key-file a key list --account b', /--key-file requires --url/],
    ['--url https://auth.example.com --key-file a account list', /keyreeve account list is not for management keys/],
    ['--url https://auth.example.com --key-file missing key list --account b', /the file missing can't be read/],
    ['login ada@example.com', /name the service: --url/],
    ['logout', /name the service: --url/],
  ];
  for (const [line, reason] of cases)
    test(line, async () => {
      using temp = newTempFolder();
      const environment = { XDG_STATE_HOME: join(temp.path, 'state') };
      assertRefused(await runInHost(line.split(' '), { folder: temp.path, environment }), 64, reason);
      assert.deepEqual(readdirSync(temp.path), []);
    });
});

test('a service that cannot be reached is no unknown outcome', async () => {
  using temp = newTempFolder();
  const server = await startRawServer(() => undefined);
  await server[Symbol.asyncDispose]();
  const environment = { XDG_STATE_HOME: join(temp.path, 'state') };
  const login = ['--url', server.url, 'login', 'ada@example.com', '--password-stdin', '--json'];
  const { status, stderr } = await runInHost(login, { folder: temp.path, environment, input: 'a' });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^\{"code":"unreachable","detail":"http:\S+ gave no response: connect ECONNREFUSED \S+","exitCode":1\}\n$/,
  );
});

test('a proxy of the environment does not see requests over plain HTTP', async () => {
  using temp = newTempFolder();
  await using proxy = await startRawServer((_, socket) => socket.end());
  const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, XDG_STATE_HOME: join(temp.path, 'state') };
  const login = ['--url', 'http://127.0.0.1:9999', 'login', 'ada@example.com', '--password-stdin'];
  const options = { folder: temp.path, input: 'password' };
  assertRefused(await runProcess(login, { ...options, environment }), 64, /unset NODE_USE_ENV_PROXY, or use https/);
  assert.equal(proxy.connections, 0);
  // Without the first variable, Node ignores the second.
  const ignored = await runProcess(login, { ...options, environment: { ...environment, NODE_USE_ENV_PROXY: '0' } });
  assert.match(ignored.stderr, /gave no response/);
  assert.equal(proxy.connections, 0);
});

test('the certificate of a service must be trusted, also by NODE_EXTRA_CA_CERTS', async () => {
  using temp = newTempFolder();
  const server = createTlsServer(tls, (_, response) => {
    response.writeHead(401, { 'Content-Type': 'application/problem+json' });
    response.end(JSON.stringify({ code: 'too_many_attempts', detail: 'Reached.' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const login = (environment: Environment): Promise<Exit> =>
      runProcess(['--url', url, 'login', 'ada@example.com', '--password-stdin'], {
        folder: temp.path,
        input: 'password',
        environment: { XDG_STATE_HOME: join(temp.path, 'state'), ...environment },
      });
    assertRefused(await login({}), 1, /certificate[^]*name its certificate in NODE_EXTRA_CA_CERTS/);
    assertRefused(await login({ NODE_EXTRA_CA_CERTS: tlsPath('server.crt') }), 1, /^keyreeve: Reached\.\n$/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
