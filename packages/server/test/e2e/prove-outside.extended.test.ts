/** `keyreeve prove-revocation --url` on faulty instances, and what prevents it. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from '../../src/app/version.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { startFaultyInstance, untilDetected, type ProxiedResponse } from './faulty-instance.ts';
import { cleanEnvironment, newProgram, runProgram, startProgram, type Program } from './program.ts';

import { cluster, issue, prove } from './outside-check.ts';

/** Caches for some time what `isCached` selects, by the complete request. */
function caching(
  ms: number,
  isCached: (response: ProxiedResponse) => boolean,
): Parameters<typeof startFaultyInstance>[1] {
  const cache = new Map<string, { readonly response: ProxiedResponse; readonly until: number }>();
  return async ({ method, url, headers }, body, forward) => {
    if (!/^\/auth\/(?:forward|verify|introspect)/.test(url ?? '')) return forward();
    const key = JSON.stringify([method, url, headers.authorization, headers['x-api-key'], body.toString()]);
    const cached = cache.get(key);
    if (cached && performance.now() < cached.until) return cached.response;
    const response = await forward();
    if (isCached(response)) cache.set(key, { response, until: performance.now() + ms });
    return response;
  };
}

const cachedEndpoints: Readonly<Record<string, (response: ProxiedResponse) => boolean>> = {
  '/auth/forward': ({ status }) => status === 403,
  'endpoints of backends': ({ status, body }) => status === 200 && /"(?:valid|active)":true/.test(body.toString()),
};

for (const [what, isCached] of Object.entries(cachedEndpoints)) {
  test(`the check from outside detects an instance with a cache of 300 ms at ${what}`, async () => {
    await using program = await newProgram();
    await using faulty = await startFaultyInstance(program.url, caching(300, isCached));
    const args = ['--deletions', '20', '--concurrency', '8'];
    const credential = await issue(program);
    const { status, result } = await untilDetected(
      () => prove(credential, [faulty.url], ...args),
      ({ status: exit }) => exit !== 0,
    );
    const { report, reason, isProven } = result;
    assert.ok(report && report.violations > 0, JSON.stringify(result));
    assert.deepEqual([status, isProven], [1, false]);
    assert.match(reason ?? '', /^\d+ violations?$/);
    assert.ok((report.acceptedAfterMsMax ?? 0) > 0);
    assert.ok(report.examples.every(({ explanation }) => explanation.includes(faulty.url)));
  });
}

test('a response that a cache marks as its own is reported, even if it is correct', async () => {
  await using program = await newProgram();
  const credential = await issue(program);
  for (const [name, value] of Object.entries({ age: '0', 'x-cache': 'HIT from edge', 'cache-status': 'edge; hit' })) {
    let requests = 0;
    await using faulty = await startFaultyInstance(program.url, async (_request, _body, forward) => {
      const response = await forward();
      // Not in the requests before the run.
      return ++requests === 40 ? { ...response, headers: { ...response.headers, [name]: value } } : response;
    });
    const { status, result } = await prove(credential, [faulty.url], '--deletions', '5');
    const reason = `a cache answered for ${faulty.url} (header Age, Cache-Status or X-Cache): responses of Keyreeve must not be cached`;
    assert.deepEqual([status, result.reason, result.instances[0]?.cachedResponses], [1, reason, 1], name);
  }
});

test('the report warns about a clock that differs and about different versions, and names both', async () => {
  await using first = await newProgram(cluster);
  await using second = await startProgram(first.folder, first.environment);
  await using other = await startFaultyInstance(second.url, async ({ method, url }, _body, forward) => {
    const response = await forward();
    if (method !== 'GET' || url !== '/auth/canary-keys') return response;
    const described = JSON.parse(response.body.toString()) as { instance: { version: string; now: string } };
    const now = new Date(Date.parse(described.instance.now) - 3_600_000).toISOString();
    const body = Buffer.from(
      JSON.stringify({ ...described, instance: { ...described.instance, version: '9.9.9', now } }),
    );
    return { ...response, body, headers: { ...response.headers, 'content-length': String(body.length) } };
  });
  const { status, result } = await prove(await issue(first), [first.url, other.url], '--deletions', '5');
  assert.deepEqual([status, result.reason], [0, null], JSON.stringify(result, undefined, 1));
  const [versions, clock, ...more] = result.warnings;
  assert.equal(versions, `the instances have different versions: ${version}, 9.9.9`);
  assert.match(clock ?? '', new RegExp(`^the clock of ${RegExp.escape(other.url)} differs by -3[56]\\d\\d s from`));
  assert.deepEqual(more, []);
});

test('a credential that is deleted during the run ends it, and nothing is proven', async () => {
  await using program = await newProgram();
  const credential = await issue(program);
  let requests = 0;
  let deletion: Promise<unknown> | undefined;
  await using watched = await startFaultyInstance(program.url, (_request, _body, forward) => {
    if (++requests === 60) deletion = program.command(['key', 'delete', String(credential.keyId), '--yes']);
    return forward();
  });
  const { status, result } = await prove(credential, [watched.url], '--seconds', '600');
  await deletion;
  const reason = 'an instance rejected the credential during the run: was it deleted or disabled?';
  assert.deepEqual([status, result.isProven, result.reason], [1, false, reason]);
});

interface Obstacle {
  readonly reason: RegExp;
  readonly urls: (program: Program) => Promise<readonly string[]> | readonly string[];
  readonly expires?: string;
  readonly args?: readonly string[];
}

test('what prevents the check is reported before the run, with the remedy', async () => {
  await using program = await newProgram();
  await using other = await newProgram();
  await using stack = new AsyncDisposableStack();
  const answering = async (status: number, headers: Readonly<Record<string, string>>, body = ''): Promise<string> => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    stack.defer(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const obstacles: Readonly<Record<string, Obstacle>> = {
    'an instance that is down': {
      urls: () => ['http://127.0.0.1:1'],
      reason: /^http:\/\/127.0.0.1:1 cannot be reached: .*ECONNREFUSED/,
    },
    'a host without TLS': {
      urls: () => [program.url.replace('http:', 'https:')],
      reason: /cannot be reached: .*(?:SSL|EPROTO)/,
    },
    'another installation': { urls: () => [other.url], reason: /rejects the credential: .*another database$/ },
    'a redirect': {
      urls: async () => [await answering(302, { location: 'https://elsewhere.example/path?secret=1' })],
      reason: /redirects to https:\/\/elsewhere\.example: name the URL that answers/,
    },
    'another program': { urls: async () => [await answering(200, {}, '<p>')], reason: /is no instance of Keyreeve/ },
    'an unknown path': {
      urls: async () => [await answering(404, {})],
      reason: /is no instance of Keyreeve, or its version is older/,
    },
    'a cached response': {
      urls: async () => [await answering(200, { age: '7' }, '{}')],
      reason: /^a cache answered for/,
    },
    'two URLs of one instance': {
      urls: ({ url }) => [url, url.replace('127.0.0.1', 'localhost')],
      reason: /^http.* and http.* reach the same instance$/,
    },
    'a credential that expires too early': {
      urls: ({ url }) => [url],
      expires: '65s',
      args: ['--seconds', '30'],
      reason: /^the credential expires at .*Z, before the run can end: a run of 30 s needs 90 s; issue another one/,
    },
    'a proxy that answers 403 for the instance': {
      urls: async () => {
        const faulty = await startFaultyInstance(program.url, async ({ url }, _body, forward) =>
          url?.startsWith('/auth/forward') ? { status: 403, headers: {}, body: Buffer.from('no') } : forward(),
        );
        return [stack.use(faulty).url];
      },
      reason: /GET \/auth\/forward \(Bearer\)\) returns 403 for a new canary key/,
    },
  };
  for (const [what, { urls, reason, expires, args = [] }] of Object.entries(obstacles)) {
    const { status, result } = await prove(await issue(program, expires), await urls(program), ...args);
    assert.deepEqual([status, result.isProven, result.report], [1, false, null], what);
    assert.match(result.reason ?? '', reason, what);
  }
});

test('the credential comes from a private file, standard input or the environment, and the text names versions', async () => {
  await using program = await newProgram();
  const { credential } = await issue(program);
  using folder = newTempFolder();
  const file = join(folder.path, 'credential');
  writeFileSync(file, `${credential}\n`, { mode: 0o600 });
  const url = ['prove-revocation', '--url', program.url, '--deletions', '2'];
  const run = (more: readonly string[], input = '') => runProgram([...url, ...more], { folder: folder.path, input });
  for (const found of [await run(['--credential-file', file]), await run(['--credential-file', '-'], credential)]) {
    assert.deepEqual([found.status, found.stderr], [0, ''], found.stdout);
    assert.match(found.stdout, /^Proven: /);
    assert.match(found.stdout, new RegExp(`^checker +keyreeve ${RegExp.escape(version)}, Node v`, 'm'));
    assert.match(
      found.stdout,
      new RegExp(`^ {2}process +keyreeve ${RegExp.escape(version)}, Node v\\S+, sqlite, ins_`, 'm'),
    );
    assert.match(found.stdout, /^Not covered by this credential:$/m);
    assert.ok(!found.stdout.includes(credential));
  }
  chmodSync(file, 0o644);
  const shared = await run(['--credential-file', file]);
  assert.equal(shared.status, 64);
  assert.match(shared.stderr, /can be read by others; it must have mode 0600/);
  assert.deepEqual(
    Object.keys(cleanEnvironment()).filter((name) => name.startsWith('KEYREEVE_')),
    [],
  );
});
