/**
 * Secrets are planted in everything that the program is given or hands out; then all that it leaves behind is searched
 * for them: its output at the most talkative level, its metrics, and its files byte by byte.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ageSessions } from '../../test-kit/age-sessions.ts';
import { codeIn, Mailbox } from '../../test-kit/mailbox.ts';
import { basic, bearer, databaseIn, newProgram, type Environment, type Program } from './program.ts';

const email = 'canary.bird@example.com';
const password = 'Parus-caeruleus-left-the-coal-mine';
const newPassword = 'Serinus-canaria-left-the-coal-mine';
const wrongPassword = 'Passer-montanus-left-the-coal-mine';
const nickname = 'nickname that is no secret';
const masterKey = randomBytes(32);

/** By name, so that a hit says what has leaked. */
type Canaries = Map<string, string>;

/** What Basic sends, which is as good as the password. */
const basicText = (user: string, secret: string) => basic(user, secret).authorization.slice('Basic '.length);

/** Uses every secret in every place where one could be put, rightly and wrongly. */
async function useEverything(program: Program, mailbox: Mailbox, canaries: Canaries): Promise<void> {
  const note = (name: string, value: string): string => {
    canaries.set(name, value);
    return value;
  };
  const call = (method: string, path: string, headers: Environment = {}, json?: unknown) =>
    program.call(method, path, headers, json);
  for (const [name, secret] of Object.entries({ password, newPassword, wrongPassword })) {
    note(name, secret);
    note(`Basic of ${name}`, basicText(email, secret));
  }
  note('master key', masterKey.toString('base64url'));

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
  const service = bearer(note('service key', (JSON.parse(granted.stdout) as { key: string }).key));
  const keyId = String((JSON.parse(granted.stdout) as { id: number }).id);
  note('Basic of service key', basicText(keyId, service.authorization.slice('Bearer '.length)));

  // By mail, through the outbox.
  const asked = await call('POST', '/auth/password-resets', {}, { email });
  assert.equal(asked.status, 202, asked.text);
  note('code of a reset', codeIn(await mailbox.next({ to: email })));

  const signedIn = await call('POST', '/auth/token', basic(email, password));
  const { accessToken, refreshToken } = signedIn.json as { accessToken: string; refreshToken: string };
  note('access token', accessToken);
  note('refresh token', refreshToken);
  const owner = bearer(accessToken);
  const created = await call('POST', '/auth/api-keys', owner, { nickname });
  assert.equal(created.status, 201, created.text);
  const { id, key } = created.json as { id: number; key: string };
  note('key', key);
  const { KEYREEVE_DATABASE_URL: databaseUrl = `sqlite:${databaseIn(program.folder)}` } = program.environment;
  await ageSessions(databaseUrl);
  const refreshed = await call('POST', '/auth/token/refresh', {}, { refreshToken });
  const second = refreshed.json as { accessToken: string; refreshToken: string };
  note('second refresh token', second.refreshToken);
  note('second access token', second.accessToken);

  // Good, cut, altered, of the wrong kind: in the header, in the body, in the path, in the query, as a name.
  const secrets = [...canaries.values()];
  for (const secret of secrets.flatMap((text) => [text, text.slice(0, -1), `${text}x`])) {
    await call('GET', '/auth/forward', bearer(secret));
    await call('GET', `/auth/forward/${secret}?token=${secret}&scope=${secret}`, { 'x-api-key': secret });
    await call('GET', `/auth/api-keys?access_token=${secret}`, bearer(secret));
    await call('POST', '/auth/token', { authorization: `Basic ${secret}` });
    await call('POST', '/auth/token/refresh', { 'x-request-id': secret }, { refreshToken: secret, [secret]: secret });
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

  // An old refresh token, twice replaced: the session ends, which is recorded.
  await ageSessions(databaseUrl);
  const third = (await call('POST', '/auth/token/refresh', {}, { refreshToken: second.refreshToken })).json as {
    refreshToken: string;
  };
  note('third refresh token', third.refreshToken);
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
  'no secret is left in the output, the metrics or the files, whatever was done with it',
  { tags: ['asvs:10.1.1', 'asvs:13.3.1', 'asvs:14.2.4', 'asvs:16.2.3', 'asvs:16.2.5'] },
  async () => {
    await using mailbox = await Mailbox.start();
    await using program = await newProgram({
      ...mailbox.environment,
      KEYREEVE_LOG_LEVEL: 'trace',
      KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
      // The battery has more failures than anyone may have.
      KEYREEVE_THROTTLE: 'off',
    });
    const canaries: Canaries = new Map();
    await useEverything(program, mailbox, canaries);
    assert.equal(canaries.size, 16);
    const metrics = await (await fetch(`${program.adminUrl}/metrics`)).text();

    // The database as it lies on the disk while the program runs: the write-ahead log is part of it. And its journal.
    const folder = dirname(databaseIn(program.folder));
    const names = readdirSync(folder).toSorted();
    assert.deepEqual(names, ['keyreeve.db', 'keyreeve.db-shm', 'keyreeve.db-wal', 'keyreeve.db.deletions']);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !names.slice(3).includes(name),
    );
    assert.ok(files.some((name) => name.endsWith('.journal')));
    const onDisk = Buffer.concat(files.map((name) => readFileSync(join(folder, name))));
    const { status, stdout, stderr } = await program.stop();
    assert.deepEqual([status, stderr], [0, '']);
    const afterwards = readFileSync(databaseIn(program.folder));
    const output = Buffer.from(stdout);

    for (const [place, bytes] of Object.entries({ output, metrics: Buffer.from(metrics), onDisk, afterwards })) {
      assert.deepEqual(findIn(bytes, canaries), [], `secrets in ${place}`);
      assert.equal(bytes.includes(masterKey), false, place);
      // Neither a private signing key nor anything that begins like a key of ours.
      assert.doesNotMatch(
        bytes.toString('latin1'),
        /"d":"|krv_[0-9A-Za-z]{20}|krvr_[0-9A-Za-z]{20}|krvc_[0-9A-Za-z]{20}|eyJ[\w-]{20}/,
        place,
      );
    }
    assert.equal(output.includes(email), false);

    // The search finds what is there.
    assert.ok(onDisk.includes(nickname) && onDisk.includes(email) && afterwards.includes(email));
    assert.ok(program.records('refused').length > 100 && program.records('request').length > 5);
  },
);
