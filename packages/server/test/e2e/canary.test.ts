/**
 * Sends secrets to the program in all places where a client can send them, correctly and by mistake. Then it searches the
 * output at the lowest log level, the metrics, the spans and all bytes of the files for them.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ageSessions } from '../../test-kit/age-sessions.ts';
import { codeIn, Mailbox } from '../../test-kit/mailbox.ts';
import { Collector } from '../../../otel/test/collector.ts';
import { basic, bearer, databaseIn, newProgram, type Environment, type Program } from './program.ts';

const email = 'canary.bird@example.com';
const password = 'Parus-caeruleus-left-the-coal-mine';
const newPassword = 'Serinus-canaria-left-the-coal-mine';
const wrongPassword = 'Passer-montanus-left-the-coal-mine';
const nickname = 'nickname that is no secret';
const masterKey = randomBytes(32);

/** By name, which identifies a leaked secret. */
type Canaries = Map<string, string>;

/** The credentials of Basic authentication, which contain the password. */
const basicText = (user: string, secret: string) => basic(user, secret).authorization.slice('Basic '.length);

/** Uses every secret in every place, correctly and by mistake. */
async function useAllSecrets(program: Program, mailbox: Mailbox, canaries: Canaries): Promise<void> {
  const remember = (name: string, value: string): string => {
    canaries.set(name, value);
    return value;
  };
  const call = (method: string, path: string, headers: Environment = {}, json?: unknown) =>
    program.call(method, path, headers, json);
  for (const [name, secret] of Object.entries({ password, newPassword, wrongPassword })) {
    remember(name, secret);
    remember(`Basic of ${name}`, basicText(email, secret));
  }
  remember('master key', masterKey.toString('base64url'));

  await program.command(['account', 'create', email, '--password-stdin'], password);
  const granted = await program.command([
    'key',
    'create',
    '--account',
    email,
    '--nickname',
    'service',
    '--scope',
    'keyreeve:verify',
    '--json',
  ]);
  const service = bearer(remember('service key', (JSON.parse(granted.stdout) as { key: string }).key));
  const keyId = String((JSON.parse(granted.stdout) as { id: number }).id);
  remember('Basic of service key', basicText(keyId, service.authorization.slice('Bearer '.length)));

  // By mail, through the outbox.
  const requested = await call('POST', '/auth/password-resets', {}, { email });
  assert.equal(requested.status, 202, requested.text);
  remember('code of a reset', codeIn(await mailbox.next({ to: email, subject: 'Set a new password' })));

  const signedIn = await call('POST', '/auth/token', basic(email, password));
  const { accessToken, refreshToken } = signedIn.json as { accessToken: string; refreshToken: string };
  remember('access token', accessToken);
  remember('refresh token', refreshToken);
  const owner = bearer(accessToken);
  const { id, key } = await program.createKey(accessToken, nickname);
  remember('key', key);
  const { KEYREEVE_DATABASE_URL: databaseUrl = `sqlite:${databaseIn(program.folder)}` } = program.environment;
  await ageSessions(databaseUrl);
  const refreshed = await call('POST', '/auth/token/refresh', {}, { refreshToken });
  const second = refreshed.json as { accessToken: string; refreshToken: string };
  remember('second refresh token', second.refreshToken);
  remember('second access token', second.accessToken);

  // Valid, truncated and extended secrets: in headers, bodies, paths, queries and names.
  const secrets = [...canaries.values()];
  for (const secret of secrets.flatMap((text) => [text, text.slice(0, -1), `${text}x`])) {
    await call('GET', '/auth/forward', bearer(secret));
    await call('GET', `/auth/forward/${secret}?token=${secret}&scope=${secret}`, { 'x-api-key': secret });
    await call('GET', `/auth/api-keys?access_token=${secret}`, bearer(secret));
    await call('POST', '/auth/token', { authorization: `Basic ${secret}` });
    await call(
      'POST',
      '/auth/token/refresh',
      { 'x-request-id': secret, traceparent: secret },
      { refreshToken: secret, [secret]: secret },
    );
    await call('POST', '/auth/verify', service, { credential: secret });
    await call('POST', '/auth/accounts/verify', {}, { code: secret, password });
    await call('POST', '/auth/verify', bearer(secret), { credential: secret });
    await call('DELETE', `/auth/api-keys/${secret}`, owner);
    await call(/^\w+$/.test(secret) ? secret.slice(0, 20) : 'PUT', `/${secret}`, { 'x-forwarded-for': secret });
  }
  await call('POST', '/auth/verify/batch', service, { credentials: secrets });
  await call('POST', '/auth/token', basic(email, wrongPassword));
  await call('POST', '/auth/token', { ...basic(email, password), 'x-api-key': key });
  const form = { method: 'POST', headers: basic(keyId, service.authorization.slice('Bearer '.length)) };
  const introspected = await fetch(`${program.url}/auth/introspect`, {
    ...form,
    body: new URLSearchParams({ token: key }),
  });
  assert.deepEqual(((await introspected.json()) as { active: boolean }).active, true);
  const headers = { ...owner, 'content-type': 'application/json' };
  await fetch(`${program.url}/auth/api-keys`, { method: 'POST', headers, body: `{"nickname":"${key}` });

  // Reuse of a refresh token that was rotated twice ends the session, with an audit event.
  await ageSessions(databaseUrl);
  const third = (await call('POST', '/auth/token/refresh', {}, { refreshToken: second.refreshToken })).json as {
    refreshToken: string;
  };
  remember('third refresh token', third.refreshToken);
  const reused = await call('POST', '/auth/token/refresh', {}, { refreshToken });
  assert.equal((reused.json as { code: string }).code, 'refresh_token_reused');
  await program.command(['account', 'set-password', email, '--password-stdin'], newPassword);
  await call('POST', '/auth/token/revoke', {}, { refreshToken: third.refreshToken });
  await program.command(['key', 'delete', String(id), '--yes']);
}

function findIn(bytes: Buffer, canaries: Canaries): string[] {
  return [...canaries].filter(([, secret]) => bytes.includes(secret)).map(([name]) => name);
}

test(
  'the output, the metrics, the spans and the files contain no secret that a client has sent or received',
  { tags: ['asvs:10.1.1', 'asvs:13.3.1', 'asvs:14.2.4', 'asvs:16.2.3', 'asvs:16.2.5'] },
  async () => {
    await using mailbox = await Mailbox.start();
    await using collector = await Collector.start();
    await using program = await newProgram({
      ...mailbox.environment,
      ...collector.environment,
      NODE_OPTIONS: `--import ${import.meta.resolve('../../../otel/src/register.ts')}`,
      KEYREEVE_TRACE_RATIO: '1',
      KEYREEVE_LOG_LEVEL: 'trace',
      KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
      // The requests exceed the limits of failed sign-ins.
      KEYREEVE_THROTTLE: 'off',
    });
    const canaries: Canaries = new Map();
    await useAllSecrets(program, mailbox, canaries);
    assert.equal(canaries.size, 16);
    const metrics = await (await fetch(`${program.adminUrl}/metrics`)).text();

    // The database on the disk while the program runs, with its write-ahead log and the deletion journal.
    const folder = dirname(databaseIn(program.folder));
    const names = readdirSync(folder).toSorted();
    // The folder of the journal, and the file that has a code on purpose.
    const others = ['.deletions', '.first-administrator', '.reserved'].map((suffix) => `keyreeve.db${suffix}`);
    const read = ['', '.usage'].flatMap((suffix) => ['', '-shm', '-wal'].map((end) => `keyreeve.db${suffix}${end}`));
    assert.deepEqual(names, [...read, ...others].toSorted());
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !others.includes(name));
    assert.ok(files.some((name) => name.endsWith('.journal')));
    const onDisk = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
    const { status, stdout, stderr } = await program.stop();
    assert.deepEqual([status, stderr], [0, '']);
    const afterwards = readFileSync(databaseIn(program.folder));
    const output = Buffer.from(stdout);
    const spans = Buffer.from(collector.text);

    for (const [place, bytes] of Object.entries({ output, metrics: Buffer.from(metrics), spans, onDisk, afterwards })) {
      assert.deepEqual(findIn(bytes, canaries), [], `secrets in ${place}`);
      assert.equal(bytes.includes(masterKey), false, place);
      // A private signing key, or a text with the prefix of a credential.
      assert.doesNotMatch(
        bytes.toString('latin1'),
        /"d":"|krv_[0-9A-Za-z]{20}|krvr_[0-9A-Za-z]{20}|krvc_[0-9A-Za-z]{20}|eyJ[\w-]{20}/,
        place,
      );
    }
    assert.equal(output.includes(email), false);
    for (const text of [email, nickname, '127.0.0.1', 'acc_', 'token='])
      assert.equal(spans.includes(text), false, text);

    // The search works: it finds texts that the files must contain.
    assert.ok(onDisk.includes(nickname) && onDisk.includes(email) && afterwards.includes(email));
    for (const name of ['verify', 'hash', 'mail', 'POST /auth/token', 'GET /auth/forward', 'DELETE /auth/api-keys/:id'])
      assert.ok(collector.named(name).length > 0, name);
    assert.ok(program.records('refused').length > 100 && program.records('request').length > 5);
  },
);
