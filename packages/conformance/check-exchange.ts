/**
 * The rules of sources of short-lived secrets, which every client library has: what they send, when they exchange a token, and
 * what callers get meanwhile. One server is Keyreeve and the issuer; the test chooses its answers.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { newTempFolder } from '../server/test-kit/temp-folder.ts';
import { newTrustedKey } from '../server/test-kit/trusted-key.ts';
import { until } from '../server/test-kit/until.ts';
import type { ReplayedAnswer } from './guard-table.ts';
import type { ExchangeStart, LibraryProgram } from './library-program.ts';
import { responseOf, startRawServer, type RecordedRequest, type ReplayServer } from './replay-server.ts';

const keyId = 4_711;
const audience = 'https://auth.example.com/a b';
const lifeMs = 600_000;
const renewedAfterMs = 480_000;
const deadlineMs = 30_000;
const pauseMs = 10_000;
const unavailable = { status: 503, body: { type: '/problems/unavailable', status: 503, code: 'unavailable' } };

interface Source extends AsyncDisposable {
  readonly secret: () => ReturnType<LibraryProgram['secret']>;
  readonly move: (ms: number) => Promise<void>;
  readonly drop: (secret: string) => Promise<void>;
  readonly server: ReplayServer;
  /** Of the requests for secrets. */
  readonly exchanges: () => readonly URLSearchParams[];
  /** The answer to the next exchanges. Default: `krvt_1`, `krvt_2` and so on. */
  answer: ReplayedAnswer | 'none' | undefined;
  /** Writes the token that the source reads. */
  readonly setToken: (token: string) => void;
}

async function startSource(program: LibraryProgram, more: Partial<ExchangeStart> = {}): Promise<Source> {
  const folder = newTempFolder();
  const file = join(folder.path, 'token');
  writeFileSync(file, 'token-1\n');
  const server = await startRawServer((request, socket) => respond(request, socket));
  const exchanges = (): URLSearchParams[] =>
    server.requests.filter(isExchange).map(({ body }) => new URLSearchParams(body));
  const source = await program.startExchange({ url: `${server.url}/`, keyId, token: ['file', file], ...more });
  const started: Source = {
    secret: () => program.secret(source),
    move: (ms) => program.moveClock(source, ms),
    drop: (secret) => program.drop(source, secret),
    server,
    exchanges,
    answer: undefined,
    setToken: (token) => writeFileSync(file, token),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
  function respond(request: RecordedRequest, socket: Socket): void {
    const { answer = { body: issued(`krvt_${exchanges().length}`) } } = started;
    if (answer !== 'none') socket.write(responseOf(answer));
  }
  return started;
}

const isExchange = ({ line }: RecordedRequest): boolean => line === 'POST /auth/oauth/token HTTP/1.1';
const issued = (secret: string): object => ({ access_token: secret, token_type: 'Bearer', expires_in: lifeMs / 1_000 });

interface Rule {
  readonly name: string;
  readonly check: (program: LibraryProgram) => Promise<void>;
}

export const exchangeRules: readonly Rule[] = [
  {
    name: 'an exchange is one form with the key and the token',
    async check(program) {
      await using source = await startSource(program);
      assert.deepEqual(await secretOf(source), 'krvt_1');
      const [{ headers, body } = assert.fail()] = source.server.requests;
      assert.match(headers.get('user-agent') ?? '', /^keyreeve-/);
      assert.equal(headers.get('content-type'), 'application/x-www-form-urlencoded');
      assert.equal(headers.get('authorization'), undefined);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: 'token-1',
        client_id: String(keyId),
      });
    },
  },
  {
    name: 'without the id of a key, the token is an assertion of its own',
    async check(program) {
      await using source = await startSource(program, { keyId: undefined });
      await secretOf(source);
      assert.deepEqual([...(source.exchanges()[0]?.keys() ?? [])].toSorted(), ['assertion', 'grant_type']);
    },
  },
  {
    name: 'callers at the same time share one exchange',
    async check(program) {
      await using source = await startSource(program);
      source.answer = 'none';
      const asked = Array.from({ length: 16 }, () => source.secret());
      await until('the exchange has arrived', () => source.exchanges().length > 0);
      // The program has read all of the lines when it answers a later one.
      await source.move(0);
      await source.move(deadlineMs);
      const failures = (await Promise.all(asked)).map(({ failure }) => [failure?.status, failure?.code]);
      assert.deepEqual(new Set(failures.map(String)), new Set(['0,unavailable']));
      assert.equal(source.exchanges().length, 1);
    },
  },
  {
    name: 'a secret is used for 80 % of its life, and then replaced for a fresh token',
    async check(program) {
      await using source = await startSource(program);
      assert.equal(await secretOf(source), 'krvt_1');
      source.setToken('token-2');
      await source.move(renewedAfterMs - 1);
      assert.equal(await secretOf(source), 'krvt_1');
      assert.equal(source.exchanges().length, 1);
      await source.move(1);
      assert.equal(await secretOf(source), 'krvt_2');
      assert.equal(await secretOf(source), 'krvt_2');
      assert.deepEqual(assertionsOf(source), ['token-1', 'token-2']);
    },
  },
  {
    name: 'while one caller renews, the others get the current secret, until it has ended',
    async check(program) {
      await using source = await startSource(program);
      await secretOf(source);
      await source.move(lifeMs - deadlineMs);
      source.answer = 'none';
      const renewal = source.secret();
      await until('the renewal has arrived', () => source.exchanges().length === 2);
      assert.equal(await secretOf(source), 'krvt_1');
      await source.move(deadlineMs - 1);
      assert.equal(await secretOf(source), 'krvt_1');
      await source.move(1);
      assert.deepEqual((await renewal).failure?.status, 0);
      assert.equal(source.exchanges().length, 2);
    },
  },
  {
    name: 'after a failed renewal, the current secret is used, and the next attempt is 10 s later or after Retry-After',
    async check(program) {
      await using source = await startSource(program);
      await secretOf(source);
      await source.move(renewedAfterMs);
      for (const [retryAfterSeconds, waitMs] of [
        [undefined, pauseMs],
        [1, pauseMs],
        [20, 20_000],
      ] as const) {
        const before = source.exchanges().length;
        source.answer = {
          ...unavailable,
          ...(retryAfterSeconds && { headers: [['Retry-After', `${retryAfterSeconds}`]] }),
        };
        assert.equal(await secretOf(source), 'krvt_1');
        await source.move(waitMs - 1);
        assert.equal(await secretOf(source), 'krvt_1');
        assert.equal(source.exchanges().length, before + 1);
        await source.move(1);
      }
      await source.move(lifeMs);
      assert.deepEqual(await failureOf(source), [503, 'unavailable']);
      source.answer = undefined;
      assert.match((await secretOf(source)) ?? '', /^krvt_/);
    },
  },
  {
    name: 'a dropped secret is replaced, and dropping an earlier one has no effect',
    async check(program) {
      await using source = await startSource(program);
      await secretOf(source);
      await source.drop('krvt_1');
      assert.equal(await secretOf(source), 'krvt_2');
      await source.drop('krvt_1');
      assert.equal(await secretOf(source), 'krvt_2');
      assert.equal(source.exchanges().length, 2);
    },
  },
  {
    name: 'an exchange takes 30 s at most',
    async check(program) {
      await using source = await startSource(program);
      source.answer = 'none';
      let isOver = false;
      const asked = source.secret().finally(() => (isOver = true));
      await until('the exchange has arrived', () => source.exchanges().length > 0);
      await source.move(deadlineMs - 1);
      assert.equal(isOver, false);
      await source.move(1);
      assert.deepEqual([(await asked).failure?.status, (await asked).failure?.code], [0, 'unavailable']);
      source.answer = undefined;
      assert.equal(await secretOf(source), 'krvt_2');
    },
  },
  {
    name: 'an error has the status and the code of the response, and neither the token nor a secret',
    async check(program) {
      await using source = await startSource(program);
      source.setToken('eyJ-the-token');
      const limited = { ...unavailable, status: 429, body: { code: 'too_many_exchanges', detail: 'too many' } };
      const location = [['Location', `${source.server.url}/other`]] as const;
      const rows: readonly [ReplayedAnswer, unknown[]][] = [
        [{ status: 400, body: { error: 'invalid_grant', error_description: 'no' } }, [400, 'invalid_grant']],
        [limited, [429, 'too_many_exchanges']],
        [unavailable, [503, 'unavailable']],
        [{ status: 302, headers: location, body: issued('krvt_x') }, [302, 'unavailable']],
        [{ body: '{"access_token":"krvt_x","expires_in":' }, [200, 'unavailable']],
        [{ body: { access_token: 'krvt_x' } }, [200, 'unavailable']],
        [{ body: { access_token: 'krvt_x', expires_in: 0 } }, [200, 'unavailable']],
        [{ body: { access_token: 'krvt_x', expires_in: '600' } }, [200, 'unavailable']],
        [{ body: { access_token: 'krvt_x\r\nX: y', expires_in: 600 } }, [200, 'unavailable']],
        [{ body: { access_token: 7, expires_in: 600 } }, [200, 'unavailable']],
        [{ body: [] }, [200, 'unavailable']],
      ];
      for (const [answer, expected] of rows) {
        source.answer = answer;
        const { failure } = await source.secret();
        assert.deepEqual([failure?.status, failure?.code], expected, JSON.stringify(answer));
        assert.doesNotMatch(failure?.message ?? '', /eyJ|krvt_/);
      }
      assert.equal(source.exchanges().length, rows.length);
      assert.doesNotMatch(program.errors, /eyJ|krvt_/);
    },
  },
  {
    name: 'without a token, there is no exchange, and the error has the reason',
    async check(program) {
      await using source = await startSource(program);
      source.setToken(' \n');
      assert.match((await source.secret()).failure?.message ?? '', /token/i);
      source.setToken('token-1');
      assert.equal(await secretOf(source), 'krvt_1');
      await using missing = await startSource(program, { token: ['file', '/missing/token'] });
      assert.match((await missing.secret()).failure?.message ?? '', /no such file/i);
      assert.deepEqual([missing.server.requests.length, source.exchanges().length], [0, 1]);
    },
  },
  {
    name: 'a job of GitHub Actions gets its token from GitHub, for the audience',
    async check(program) {
      await using github = await startRawServer((_, socket) =>
        socket.write(responseOf({ body: { value: 'token-g' } })),
      );
      await using source = await startSource(program, {
        audience,
        token: ['github', `${github.url}/token?api-version=2.0`],
      });
      assert.equal(await secretOf(source), 'krvt_1');
      assert.deepEqual(assertionsOf(source), ['token-g']);
      const [{ line, headers } = assert.fail()] = github.requests;
      const url = new URL(/^GET (.*) HTTP\/1\.1$/.exec(line)?.[1] ?? '', github.url);
      assert.deepEqual(Object.fromEntries(url.searchParams), { 'api-version': '2.0', audience });
      assert.equal(headers.get('authorization'), 'Bearer request-token');
    },
  },
  {
    name: 'a workload on Google Cloud gets its token from the metadata server, for the URL of Keyreeve',
    async check(program) {
      await using google = await startRawServer((_, socket) => socket.write(responseOf({ body: 'token-m' })));
      await using source = await startSource(program, { token: ['google', new URL(google.url).host] });
      assert.equal(await secretOf(source), 'krvt_1');
      assert.deepEqual(assertionsOf(source), ['token-m']);
      const [{ line, headers } = assert.fail()] = google.requests;
      const url = new URL(/^GET (.*) HTTP\/1\.1$/.exec(line)?.[1] ?? '', google.url);
      assert.equal(url.pathname, '/computeMetadata/v1/instance/service-accounts/default/identity');
      assert.deepEqual(Object.fromEntries(url.searchParams), { audience: source.server.url, format: 'full' });
      assert.equal(headers.get('metadata-flavor'), 'Google');
    },
  },
  {
    name: 'an error of the issuer has its status, and neither a header nor its content',
    async check(program) {
      const answer = { status: 403, body: 'eyJ-content' };
      await using issuer = await startRawServer((_, socket) => socket.write(responseOf(answer)));
      for (const token of [
        ['github', `${issuer.url}/token`],
        ['google', new URL(issuer.url).host],
      ] as const) {
        await using source = await startSource(program, { token });
        const { failure } = await source.secret();
        assert.match(failure?.message ?? '', /403/);
        assert.doesNotMatch(failure?.message ?? '', /eyJ|request-token/);
        assert.equal(source.exchanges().length, 0);
      }
    },
  },
];

/** With a real service and a token of a real issuer, until the key is deleted. */
export async function checkRealExchange(program: LibraryProgram): Promise<void> {
  await using trusted = await newTrustedKey();
  using folder = newTempFolder();
  const file = join(folder.path, 'token');
  const { app, keyId: id } = trusted;
  const source = await program.startExchange({ url: app.url, keyId: id, token: ['file', file] });
  const next = async (token?: string): Promise<Awaited<ReturnType<LibraryProgram['secret']>>> => {
    if (token !== undefined) writeFileSync(file, token);
    return program.secret(source);
  };
  const { secret: first = '' } = await next(trusted.token());
  assert.equal(await trusted.isAccepted(first), true);
  // Of a token with a life of 300 s, which bounds that of the secret. It is accepted once, and the secret is still valid.
  await program.moveClock(source, 240_000);
  assert.deepEqual((await next()).secret, first);
  await program.moveClock(source, pauseMs);
  const { secret: second = '' } = await next(trusted.token());
  assert.notEqual(second, first);
  assert.equal(await trusted.isAccepted(second), true);
  await trusted.send('DELETE', `/auth/api-keys/${id}`);
  assert.equal(await trusted.isAccepted(second), false);
  await program.drop(source, second);
  const { failure } = await next(trusted.token());
  assert.deepEqual([failure?.status, failure?.code], [400, 'invalid_grant']);
}

async function secretOf(source: Source): Promise<string | undefined> {
  const { secret, failure } = await source.secret();
  assert.equal(failure, undefined);
  return secret;
}

async function failureOf(source: Source): Promise<[status?: number, code?: string]> {
  const { failure } = await source.secret();
  return [failure?.status, failure?.code] as [number, string];
}

const assertionsOf = (source: Source): (string | null)[] => source.exchanges().map((form) => form.get('assertion'));
