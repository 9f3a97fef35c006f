/** Wrong configurations: the program reports all mistakes at once, and creates or changes nothing. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, databaseIn, newProgram, runInHost, startProgram, type Environment } from './program.ts';
import { verifyUrlOf } from './verifier-kit.ts';

const someMasterKey = Buffer.alloc(32, 7).toString('base64url');
const publicWithoutTls =
  'KEYREEVE_HOST, KEYREEVE_ADMIN_HOST or KEYREEVE_VERIFY_HOST is not a loopback address, but Keyreeve does not terminate TLS: set KEYREEVE_TRUSTED_PROXIES to the proxy in front of it, and KEYREEVE_PUBLIC_URL to the proxy’s https URL';

/** Some invalid values: `config.test.ts` has all of them. Their mistakes are reported in this order. */
const wrongValues: readonly (readonly [name: string, value: string, mistake: string])[] = [
  ['KEYREEVE_PROT', '8787', 'is not a setting of Keyreeve'],
  ['KEYREEVE_HOST', 'every where', 'must be a host name or an IP address, not “every where”'],
  ['KEYREEVE_PORT', '65536', 'must be a whole number from 0 to 65535, not “65536”'],
  ['KEYREEVE_MASTER_KEY', someMasterKey.slice(1), 'must be 32 bytes in base64url: 43 characters'],
  ['KEYREEVE_LOG_LEVEL', 'verbose', 'must be one of trace, debug, info, warn, error, fatal, silent, not “verbose”'],
];

function rejection(mistakes: readonly string[]) {
  const [only = ''] = mistakes;
  const lines =
    mistakes.length === 1 ? only : ['The configuration has errors:', ...mistakes.map((it) => `  - ${it}`)].join('\n');
  return { status: 78, stdout: '', stderr: `keyreeve: ${lines}\n` };
}

test('all mistakes are reported at once, without secret values', async () => {
  using folder = newTempFolder();
  const environment = Object.fromEntries(wrongValues.map(([name, value]) => [name, value]));
  const mistakes = wrongValues.map(([name, , mistake]) => `${name} ${mistake}`);
  for (const command of ['serve', 'doctor']) {
    assert.deepEqual(await runInHost([command], { folder: folder.path, environment }), rejection(mistakes));
  }
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a contradictory configuration is rejected with both mistakes, and creates nothing', async () => {
  using folder = newTempFolder();
  const environment = { KEYREEVE_HOST: '0.0.0.0', KEYREEVE_THROTTLE: 'off' };
  const mistakes = [publicWithoutTls, 'KEYREEVE_THROTTLE can be off on a loopback address only'];
  assert.deepEqual(await runInHost(['serve'], { folder: folder.path, environment }), rejection(mistakes));
  assert.deepEqual(readdirSync(folder.path), []);
});

test(
  'a secret is read from a file only if no other user can read the file',
  { tags: ['asvs:13.3.1', 'asvs:13.3.2'] },
  async () => {
    using folder = newTempFolder();
    const path = join(folder.path, 'master-key');
    const environment = { KEYREEVE_MASTER_KEY_FILE: path };
    writeFileSync(path, `${someMasterKey}\n`, { mode: 0o644 });
    const open = [
      `KEYREEVE_MASTER_KEY is in the file ${path}, which can be read by others; it must have mode 0600 (chmod 600 ${path})`,
    ];
    assert.deepEqual(await runInHost(['serve'], { folder: folder.path, environment }), rejection(open));
    assert.deepEqual(readdirSync(folder.path), ['master-key']);

    chmodSync(path, 0o600);
    await using program = await startProgram(folder.path, environment);
    assert.equal(program.records('listening')[0]?.['masterKeyFile'], undefined);
    assert.equal(existsSync(`${databaseIn(folder.path)}.master-key`), false);
  },
);

test('settings come from a file that the operator names, and never from a file .env that lies in the folder', async () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'settings');
  writeFileSync(path, 'KEYREEVE_SSO_NAME=from the file\nKEYREEVE_KEY_PREFIX=acme\n', { mode: 0o600 });
  writeFileSync(join(folder.path, '.env'), 'KEYREEVE_KEY_PREFIX=planted\n', { mode: 0o600 });
  const prefix = async (args: readonly string[], environment: Environment = {}) => {
    const { stdout } = await runInHost([...args, 'doctor', '--json'], { folder: folder.path, environment });
    const { configuration } = JSON.parse(stdout) as { configuration: { name: string; value: string }[] };
    return configuration.find(({ name }) => name === 'KEYREEVE_KEY_PREFIX')?.value;
  };
  assert.equal(await prefix(['--env-file', path]), 'acme');
  assert.equal(await prefix([], { KEYREEVE_SETTINGS_FILE: path }), 'acme');
  assert.equal(await prefix(['--env-file', path], { KEYREEVE_KEY_PREFIX: 'won' }), 'won');
  assert.equal(await prefix([]), 'krv');
  chmodSync(path, 0o666);
  assert.deepEqual(
    await runInHost(['doctor', '--env-file', path], { folder: folder.path }),
    rejection([
      `the settings file ${path} can be changed by others; it must have mode 0644 at most (chmod 644 ${path})`,
    ]),
  );
});

test('the verifiers of a service have the settings of its file as it was at the start', async () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'settings');
  writeFileSync(path, 'KEYREEVE_VERIFY_PORT=0\nKEYREEVE_KEY_PREFIX=acme\n', { mode: 0o600 });
  await using program = await startProgram(folder.path, { KEYREEVE_SETTINGS_FILE: path });
  const { accessToken } = await program.signIn();
  const { key } = await program.createKey(accessToken);
  assert.match(key, /^acme_/);
  const verify = async (): Promise<number> =>
    (await fetch(`${verifyUrlOf(program)}/auth/forward`, { headers: bearer(key) })).status;
  assert.equal(await verify(), 200);
  rmSync(path);
  const [first] = program.records('verifier_listening');
  process.kill(Number(first?.['verifierPid']), 'SIGKILL');
  await program.waitFor('another verifier', () => program.records('verifier_listening')[1]);
  assert.equal(await verify(), 200);
});

test('doctor names the settings that differ from those of running instances, and the database has no value of them', async () => {
  const secret = 'smtps://user:open-sesame@mail.example.com:465';
  const environment = {
    KEYREEVE_SMTP_URL: secret,
    KEYREEVE_MAIL_FROM: 'accounts@example.com',
    KEYREEVE_VERIFY_PORT: '0',
    KEYREEVE_USAGE_DAYS: '400',
  };
  await using program = await newProgram(environment);
  const differing = async (more: Environment): Promise<readonly (readonly [string, string])[]> => {
    const all = { ...environment, ...more };
    const { stdout } = await runInHost(['doctor', '--json'], { folder: program.folder, environment: all });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; detail: string }[] };
    return checks
      .filter(({ name }) => name === 'settings of instances')
      .map(({ state, detail }) => [state, /than this command: (.*?)\. Restart/.exec(detail)?.[1] ?? detail]);
  };
  assert.deepEqual(await differing({}), []);
  assert.deepEqual(await differing({ KEYREEVE_USAGE_DAYS: '' }), [], 'the default');
  assert.deepEqual(await differing({ KEYREEVE_LOG_LEVEL: 'debug' }), [['note', 'KEYREEVE_LOG_LEVEL']]);
  const other = { KEYREEVE_SMTP_URL: `${secret}0`.replace('4650', '587'), KEYREEVE_PASSWORD_LENGTH_MIN: '20' };
  assert.deepEqual(await differing(other), [['warning', 'KEYREEVE_PASSWORD_LENGTH_MIN, KEYREEVE_SMTP_URL']]);
  const path = join(program.folder, 'smtp-url');
  writeFileSync(path, secret, { mode: 0o600 });
  assert.deepEqual(
    await differing({ KEYREEVE_SMTP_URL: '', KEYREEVE_SMTP_URL_FILE: path }),
    [],
    'a file is read again',
  );

  using db = new DatabaseSync(databaseIn(program.folder), { readOnly: true });
  const rows = db.prepare('select settings from instances').all();
  assert.equal(rows.length, 1);
  const recorded = JSON.parse(String(rows[0]?.['settings'])) as Record<string, string>;
  assert.ok('KEYREEVE_SMTP_URL' in recorded && !('KEYREEVE_USAGE_DAYS' in recorded));
  for (const hash of Object.values(recorded)) assert.match(hash, /^[\w-]{12}$/);
});

test('a database with a missing or another master key is rejected, and no master key is created', async () => {
  await using program = await newProgram();
  await program.stop();
  const { folder } = program;
  const database = databaseIn(folder);
  const masterKey = `${database}.master-key`;
  const damaged = [`the master key ${masterKey} is damaged: expected 43 characters of base64url`];
  const wrong = [
    `the master key is not that of the database ${database} (its id is <ID>, and the database needs <ID>)`,
  ];
  const missing = [
    `the database ${database} exists, but its master key ${masterKey} is missing; put it back, or set KEYREEVE_MASTER_KEY`,
  ];
  const commands = [
    ['serve'],
    ['migrate'],
    ['account', 'create', 'you@example.com', '--generate'],
    ['account', 'list'],
  ];
  const assertAllRejected = async (mistakes: readonly string[], environment: Environment = {}) => {
    for (const command of commands) {
      const exit = await runInHost(command, { folder, environment });
      const stderr = exit.stderr.replaceAll(/\b[0-9a-f]{16}\b/g, '<ID>');
      assert.deepEqual({ ...exit, stderr }, rejection(mistakes), command.join(' '));
    }
  };
  await assertAllRejected(wrong, { KEYREEVE_MASTER_KEY: someMasterKey });
  writeFileSync(masterKey, 'cut');
  await assertAllRejected(damaged);
  rmSync(masterKey);
  await assertAllRejected(missing);
  // The housekeeping creates the usage file.
  const files = readdirSync(dirname(database)).filter((name) => !name.endsWith('.usage'));
  assert.deepEqual(files.toSorted(), [
    'keyreeve.db',
    'keyreeve.db.deletions',
    'keyreeve.db.first-administrator',
    'keyreeve.db.reserved',
  ]);
});

test('a database of a newer program is accepted only if its schema is compatible', async () => {
  await using program = await newProgram();
  await program.stop();
  const { folder } = program;
  const insert = (version: number, compatibleFrom: number) => {
    const database = new DatabaseSync(databaseIn(folder));
    database
      .prepare(
        'insert into schema_migrations (version, name, checksum, compatible_from, applied_at) values (?, ?, ?, ?, 0)',
      )
      .run(version, `${version}_later`, 'unknown', compatibleFrom);
    database.close();
  };
  insert(998, 1);
  await using compatible = await startProgram(folder);
  assert.equal((await compatible.call('GET', '/health/ready')).status, 200);
  await compatible.stop();

  insert(999, 999);
  for (const command of [['serve'], ['migrate'], ['account', 'list']]) {
    const { status, stdout, stderr } = await runInHost(command, { folder });
    assert.deepEqual([status, stdout], [78, '']);
    assert.match(
      stderr,
      /^keyreeve: the database has schema 999, which needs a newer program: this one supports up to \d+\. Install the version that created it\.\n$/,
    );
  }
});

test('a file that is not a database is reported in one line with status 1, and stays unchanged', async () => {
  using folder = newTempFolder();
  const path = databaseIn(folder.path);
  mkdirSync(dirname(path));
  writeFileSync(path, 'not a database, but longer than its header would be'.repeat(100));
  const environment = { KEYREEVE_MASTER_KEY: someMasterKey };
  const result = await runInHost(['serve'], { folder: folder.path, environment });
  assert.deepEqual(result, {
    status: 1,
    stdout: '',
    stderr: `keyreeve: the database ${databaseIn(folder.path)} cannot be used: file is not a database. Check KEYREEVE_DATABASE_URL, or restore a backup: keyreeve restore --from FILE.\n`,
  });
  assert.deepEqual(readdirSync(dirname(path)), ['keyreeve.db']);
});

test('serve warns about an earlier key prefix that is not accepted', async () => {
  using folder = newTempFolder();
  const run = (...args: string[]) => runInHost(args, { folder: folder.path });
  const warningsWith = async (settings: Environment): Promise<unknown[]> => {
    await using program = await startProgram(folder.path, settings);
    return program
      .records('configuration')
      .map(({ detail }) => detail)
      .filter((detail) => String(detail).startsWith('KEYREEVE_KEY_PREFIXES_ACCEPTED'));
  };
  const acme = { KEYREEVE_KEY_PREFIX: 'acme' };
  assert.equal((await run('account', 'create', 'you@example.com', '--generate')).status, 0);
  assert.equal((await run('key', 'create', '--account', 'you@example.com', '--nickname', 'old')).status, 0);
  assert.deepEqual(await warningsWith({}), []);
  assert.deepEqual(await warningsWith({ ...acme, KEYREEVE_KEY_PREFIXES_ACCEPTED: 'krv' }), []);
  assert.deepEqual(await warningsWith(acme), [
    'KEYREEVE_KEY_PREFIXES_ACCEPTED does not list krv, which was the prefix of new keys earlier: keys that begin with krv_ are rejected; add krv to it',
  ]);
});
