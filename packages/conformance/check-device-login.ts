/**
 * The rules of sign-ins from a command line (RFC 8628), which every client library has: what they send and print, when they poll,
 * and how they end. A server is Keyreeve; the test chooses its answers.
 */
import assert from 'node:assert/strict';
import { until } from '../server/test-kit/until.ts';
import type { ReplayedAnswer } from './guard-table.ts';
import type { Failure, LibraryProgram, LoginStart } from './library-program.ts';
import { responseOf, startRawServer, type RecordedRequest, type ReplayServer } from './replay-server.ts';

const beginning = 'POST /auth/oauth/device HTTP/1.1';
const polling = 'POST /auth/oauth/token HTTP/1.1';
const revocation = 'POST /auth/oauth/revoke HTTP/1.1';
/** Of a poll without a response. */
export const pollMsMax = 12_000;
const expiresInSeconds = 600;
/** While the service repeats a lost response. */
const repeatMs = 60_000;
const lifeSeconds = 3_600;
/** From the first slash after the host. */
const linkCharsMax = 1_000;
/** The control character of ISO 6429 that has the meaning of ESC [. */
const csi = '\u009B';
let codes = 0;

/** Another user code for each login, because the standard error has those of all. */
const newCode = () => {
  const userCode = `BCDF-${String(++codes).padStart(4, '0')}`;
  return {
    device_code: 'krvd_secret',
    user_code: userCode,
    verification_uri: 'https://auth.example.com/console/device',
    verification_uri_complete: `https://auth.example.com/console/device#${userCode}`,
    expires_in: expiresInSeconds,
    interval: 5,
  };
};
const issued = {
  access_token: 'krv_issued',
  token_type: 'Bearer',
  expires_in: lifeSeconds,
  scope: 'orders:read orders:write',
  key_id: 4_711,
  nickname: 'Acme CLI',
};
const error = (code: string): ReplayedAnswer => ({ status: 400, body: { error: code, error_description: 'no' } });
const pending = error('authorization_pending');
const unavailable = { status: 503, body: { type: '/problems/unavailable', status: 503, code: 'unavailable' } };

type Answer = ReplayedAnswer | 'none' | 'closed';

interface Login extends AsyncDisposable {
  readonly server: ReplayServer;
  readonly polls: () => readonly URLSearchParams[];
  /** The answer to the next polls. */
  answer: Answer;
  readonly outcome: () => ReturnType<LibraryProgram['key']>;
  readonly cancel: () => Promise<void>;
  readonly move: (ms: number) => Promise<void>;
  /** Waits until the login pauses for this time. */
  readonly pausesFor: (ms: number) => Promise<void>;
  /** Lets the pause pass, and waits for the poll at its end and no earlier. */
  readonly pollAfter: (ms: number) => Promise<void>;
}

interface Options extends Partial<LoginStart> {
  readonly code?: object;
  readonly begin?: ReplayedAnswer;
}

async function startLogin(
  program: LibraryProgram,
  { code = newCode(), begin = { body: code }, ...start }: Options = {},
): Promise<Login> {
  const server = await startRawServer((request, socket) => {
    const answer = request.line === beginning ? begin : login.answer;
    if (answer === 'closed') socket.end();
    else if (answer !== 'none') socket.write(responseOf(answer));
  });
  const name = await program.startLogin({ url: `${server.url}/`, clientId: 'acme-cli', ...start });
  const pausesFor = (ms: number): Promise<void> =>
    until(`the login pauses for ${ms} ms`, async () => String(await program.waits(name)) === String(ms));
  const login: Login = {
    server,
    polls: () => server.requests.filter(isPoll).map(({ body }) => new URLSearchParams(body)),
    answer: pending,
    outcome: () => program.key(name),
    cancel: () => program.cancel(name),
    move: (ms) => program.moveClock(name, ms),
    pausesFor,
    async pollAfter(ms) {
      const count = login.polls().length;
      await pausesFor(ms);
      await login.move(ms - 1);
      await pausesFor(1);
      assert.equal(login.polls().length, count);
      await login.move(1);
      await until('the login polls', () => login.polls().length > count);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return login;
}

const isPoll = ({ line }: RecordedRequest): boolean => line === polling;

interface Rule {
  readonly name: string;
  readonly check: (program: LibraryProgram) => Promise<void>;
}

export const loginRules: readonly Rule[] = [
  {
    name: 'a login asks for a code with one form, and prints the link, the code and the QR code',
    async check(program) {
      const code = newCode();
      await using login = await startLogin(program, { code, scopes: ['orders:read', 'orders:write'] });
      await login.pausesFor(5_000);
      const [{ line, headers, body } = assert.fail()] = login.server.requests;
      assert.equal(line, beginning);
      assert.match(headers.get('user-agent') ?? '', /^keyreeve-/);
      assert.equal(headers.get('content-type'), 'application/x-www-form-urlencoded');
      assert.equal(headers.get('authorization'), undefined);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
        client_id: 'acme-cli',
        scope: 'orders:read orders:write',
      });
      const link = code.verification_uri_complete;
      assert.ok(
        program.errors.includes(
          `Open this link, and compare the code:\n\n  ${link}\n  ${code.user_code}\n\nQR ${link}\n\n`,
        ),
        program.errors,
      );
      assert.doesNotMatch(program.errors, /krvd_secret/);
    },
  },
  {
    name: 'a login polls at the interval, and returns the key that a person has approved',
    async check(program) {
      await using login = await startLogin(program);
      for (const answer of [pending, pending, { body: issued }]) {
        login.answer = answer;
        await login.pollAfter(5_000);
      }
      assert.deepEqual(Object.fromEntries(login.polls()[0] ?? []), {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'acme-cli',
        device_code: 'krvd_secret',
      });
      assert.deepEqual(Object.fromEntries(new URLSearchParams(login.server.requests[0]?.body)), {
        client_id: 'acme-cli',
      });
      const { key } = await login.outcome();
      const { expiresAt = '', ...others } = key ?? {};
      assert.deepEqual(others, {
        key: 'krv_issued',
        keyId: 4_711,
        nickname: 'Acme CLI',
        scopes: ['orders:read', 'orders:write'],
      });
      assert.match(expiresAt, /^\d{4}-\d\d-\d\dT/);
      assert.doesNotMatch(program.errors, /krv_issued/);
      assert.equal(login.polls().length, 3);
    },
  },
  {
    name: 'without an interval and a complete link, a login polls every 5 s and prints the page',
    async check(program) {
      const { interval: _, verification_uri_complete: __, ...others } = newCode();
      const code = { ...others, verification_uri: `http://[::1]:8080/${'a'.repeat(linkCharsMax - 1)}` };
      await using login = await startLogin(program, { code });
      await login.pausesFor(5_000);
      const page = `\n  ${code.verification_uri}\n  ${code.user_code}\n`;
      assert.ok(program.errors.includes(page), program.errors);
    },
  },
  {
    name: 'slow_down adds 5 s to the interval of all later polls',
    async check(program) {
      await using login = await startLogin(program);
      login.answer = error('slow_down');
      await login.pollAfter(5_000);
      await login.pollAfter(10_000);
      login.answer = pending;
      await login.pollAfter(15_000);
      await login.pollAfter(15_000);
      await login.pausesFor(15_000);
    },
  },
  {
    name: 'without a response of the service, the pause doubles up to 20 s, or is as long as Retry-After',
    async check(program) {
      await using login = await startLogin(program);
      login.answer = 'closed';
      await login.pollAfter(5_000);
      login.answer = unavailable;
      await login.pollAfter(10_000);
      login.answer = { ...unavailable, status: 429, body: { code: 'too_many_exchanges' } };
      await login.pollAfter(20_000);
      login.answer = { ...unavailable, headers: [['Retry-After', '45']] };
      await login.pollAfter(20_000);
      login.answer = pending;
      await login.pollAfter(45_000);
      login.answer = { body: issued };
      await login.pollAfter(5_000);
      assert.equal((await login.outcome()).key?.keyId, 4_711);
    },
  },
  {
    name: 'a poll takes 12 s at most, so that three of them reach the service while it repeats a lost response',
    async check(program) {
      await using login = await startLogin(program);
      login.answer = 'none';
      await login.pollAfter(5_000);
      await login.move(pollMsMax - 1);
      await login.move(1);
      await login.pollAfter(10_000);
      await login.move(pollMsMax);
      login.answer = { body: issued };
      await login.pollAfter(20_000);
      assert.equal((await login.outcome()).key?.keyId, 4_711);
    },
  },
  {
    name: 'what the person or the service refuses ends the login with its code, and neither the code nor a key',
    async check(program) {
      const location = [['Location', 'https://other.example.com/']] as const;
      const rows: readonly [Answer, unknown[]][] = [
        ...['access_denied', 'expired_token', 'invalid_grant'].map(
          (code) => [error(code), [400, code]] as [Answer, unknown[]],
        ),
        [{ status: 401, body: { error: 'invalid_client' } }, [401, 'invalid_client']],
        [{ status: 302, headers: location, body: issued }, [302, 'unavailable']],
        [{ body: { ...issued, access_token: 'krv_x\r\ny' } }, [200, 'unavailable']],
        [{ body: { ...issued, key_id: '4711' } }, [200, 'unavailable']],
        [{ body: { ...issued, nickname: 7 } }, [200, 'unavailable']],
        [{ body: { ...issued, nickname: `Acme${csi}2J` } }, [200, 'unavailable']],
        [{ body: { ...issued, nickname: 'Acme\u001B]0;Acme\u0007' } }, [200, 'unavailable']],
        [{ body: { ...issued, scope: 'orders:read\u001B[2J' } }, [200, 'unavailable']],
        [{ body: { ...issued, scope: `orders:read${csi}2J` } }, [200, 'unavailable']],
        [
          { status: 400, body: { error: 'access_denied', error_description: `no\u001B]0;no\u0007${csi}` } },
          [400, 'access_denied'],
        ],
        [{ status: 400, body: { error: '\u001B[2J', error_description: 'no' } }, [400, 'unavailable']],
        [{ body: { ...issued, scope: undefined } }, [200, 'unavailable']],
        [{ body: { ...issued, expires_in: 'soon' } }, [200, 'unavailable']],
        [{ body: { ...issued, expires_in: 1e15 } }, [200, 'unavailable']],
        [{ body: '{"access_token":"krv_issued","' }, [200, 'unavailable']],
        [{ body: [] }, [200, 'unavailable']],
      ];
      for (const [answer, expected] of rows) {
        await using login = await startLogin(program);
        login.answer = answer;
        await login.pollAfter(5_000);
        assertFailure(await login.outcome(), expected, JSON.stringify(answer));
        assert.equal(login.polls().length, 1);
      }
      assert.doesNotMatch(program.errors, /krv_issued|krvd_secret/);
    },
  },
  {
    name: 'a refused beginning, and a code that could control the terminal, end the login before a poll',
    async check(program) {
      const good = newCode();
      const limited = { status: 429, body: { code: 'too_many_device_requests', status: 429 } };
      const rows: readonly [ReplayedAnswer, unknown[]][] = [
        [{ status: 401, body: { error: 'invalid_client' } }, [401, 'invalid_client']],
        [error('invalid_scope'), [400, 'invalid_scope']],
        [limited, [429, 'too_many_device_requests']],
        [{ ...limited, body: { ...limited.body, detail: `no\u001B[2J${csi}` } }, [429, 'too_many_device_requests']],
        [unavailable, [503, 'unavailable']],
        ...[
          { user_code: 'A\u001B[2J' },
          { verification_uri: 'javascript:alert(1)' },
          { verification_uri_complete: 'https://auth.example.com/\u001B[2J' },
          { verification_uri: 'https://auth.example.com@other.example.com/' },
          { verification_uri_complete: `https://auth.example.com@other.example.com/#${good.user_code}` },
          { verification_uri_complete: 'https://auth.example.com:443@other.example.com' },
          { verification_uri_complete: 'https://\\other.example.com' },
          { verification_uri_complete: `https://auth.example.com/${'a'.repeat(linkCharsMax)}` },
          { device_code: '' },
          { expires_in: 0 },
          { expires_in: undefined },
          { interval: 0 },
          { interval: '5' },
        ].map((other) => [{ body: { ...good, ...other } }, [200, 'unavailable']] as [ReplayedAnswer, unknown[]]),
      ];
      for (const [begin, expected] of rows) {
        await using login = await startLogin(program, { begin });
        assertFailure(await login.outcome(), expected, JSON.stringify(begin));
        assert.equal(login.server.requests.length, 1);
      }
      assert.ok(!program.errors.includes(good.user_code));
    },
  },
  {
    name: 'a login ends when the code has expired and a lost response is not repeated any more',
    async check(program) {
      for (const [answer, expected] of [
        [pending, [0, 'expired_token']],
        [unavailable, [503, 'unavailable']],
      ] as const) {
        await using login = await startLogin(program);
        await login.pausesFor(5_000);
        await login.move(expiresInSeconds * 1_000 + repeatMs - 5_000);
        await until('the login polls', () => login.polls().length === 1);
        login.answer = answer;
        await login.pollAfter(5_000);
        assertFailure(await login.outcome(), [...expected], expected[1]);
        assert.equal(login.polls().length, 2);
      }
    },
  },
  {
    name: 'a login that the program cancels sends no further poll',
    async check(program) {
      await using login = await startLogin(program);
      await login.pollAfter(5_000);
      await login.pausesFor(5_000);
      await login.cancel();
      const { key, failure } = await login.outcome();
      assert.deepEqual([key, failure?.status, failure?.message], [undefined, undefined, 'cancelled']);
      await login.move(expiresInSeconds * 1_000);
      assert.equal(login.polls().length, 1);
    },
  },
  {
    name: 'a logout sends the key in one form, and fails with the code of the service and without the key',
    async check(program) {
      const closed = 'closed' as const;
      const redirect = { status: 302, headers: [['Location', 'https://other.example.com/']] } as const;
      const rows: readonly [Answer, unknown[] | undefined][] = [
        [{ body: '' }, undefined],
        [{ status: 204 }, undefined],
        [error('invalid_grant'), [400, 'invalid_grant']],
        [{ status: 401, body: { error: 'invalid_client' } }, [401, 'invalid_client']],
        [unavailable, [503, 'unavailable']],
        [redirect, [302, 'unavailable']],
        [closed, [0, 'unavailable']],
      ];
      for (const [answer, expected] of rows) {
        await using server = await startRawServer((_, socket) => {
          if (answer === 'closed') socket.end();
          else if (answer !== 'none') socket.write(responseOf(answer));
        });
        const failure = await program.logOut({ url: `${server.url}/`, clientId: 'acme-cli', key: 'krv_secret' });
        assert.deepEqual(failure && [failure.status, failure.code], expected, JSON.stringify(answer));
        assert.doesNotMatch(failure?.message ?? '', /krv_/);
        assert.equal(server.requests.length, 1);
        const [{ line, headers, body } = assert.fail()] = server.requests;
        assert.equal(line, revocation);
        assert.match(headers.get('user-agent') ?? '', /^keyreeve-/);
        assert.equal(headers.get('content-type'), 'application/x-www-form-urlencoded');
        assert.equal(headers.get('authorization'), undefined);
        assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), { client_id: 'acme-cli', token: 'krv_secret' });
      }
      assert.doesNotMatch(program.errors, /krv_secret/);
    },
  },
];

function assertFailure({ key, failure }: { key?: unknown; failure?: Failure }, expected: unknown[], row: string): void {
  assert.deepEqual([key, failure?.status, failure?.code], [undefined, ...expected], row);
  assert.doesNotMatch(failure?.message ?? '', /krv_|krvd_|\p{Cc}/u);
}
