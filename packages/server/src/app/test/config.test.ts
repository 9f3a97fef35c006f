/** Configuration: defaults, accepted and rejected values, and messages, which contain no secret. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ConfigError, describeConfig, readConfig, type Config } from '../configuration/config.ts';
import { warningsOf } from '../configuration/config-warnings.ts';
import { clientNames } from '../configuration/ignored-names.ts';
import type { Setting } from '../configuration/setting.ts';
import { settings } from '../configuration/settings.ts';
import { mailDefaults, mailWithTokens } from './mail-defaults.ts';
import { singleSignOnDefaults } from './single-sign-on-defaults.ts';
import { tlsPath } from '../../../test-kit/tls.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { invalidValues } from './invalid-values.ts';

type Environment = Readonly<Record<string, string>>;

const checkout = fileURLToPath(new URL('../../../../../', import.meta.url));
const names = Object.values(settings).map(({ name }) => name);
const certificate = readFileSync(tlsPath('server.crt'), 'utf8').trim();
const masterKeyText = Buffer.alloc(32, 0xfb).toString('base64url');

function mistakesIn(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.equal(
      error.message,
      `The configuration has errors:\n${error.mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
    return error.mistakes;
  }
}

const defaults: Config = {
  host: '127.0.0.1',
  port: 8787,
  verifyPort: undefined,
  verifyHost: undefined,
  verifySocket: undefined,
  verifiers: 1,
  isPublicPortVerifying: true,
  adminHost: '127.0.0.1',
  adminPort: 8788,
  adminNames: [],
  publicUrl: undefined,
  audience: undefined,
  hasConsole: true,
  hasDocs: true,
  hasManagementKeys: false,
  consoleUrl: undefined,
  hasConsoleServiceAccounts: true,
  mark: undefined,
  accent: undefined,
  apiUrl: undefined,
  apiExample: undefined,
  passkeyRpId: undefined,
  bootstrap: undefined,
  ...singleSignOnDefaults,
  database: { kind: 'sqlite', path: join(checkout, 'data/keyreeve.db') },
  databaseCa: undefined,
  databaseFailover: 'fenced',
  masterKey: undefined,
  mayReadWorldReadableSecrets: false,
  deletionJournal: join(checkout, 'data/keyreeve.db.deletions'),
  keyPrefix: 'krv',
  keyPrefixesAccepted: [],
  environments: [],
  forwardEnvironments: 'first',
  isBasicForwarded: false,
  scopes: 'open',
  jwtAlg: 'ES256',
  accessTokenTtlSeconds: 600,
  refreshIdleTtlSeconds: 14 * 86_400,
  refreshMaxTtlSeconds: 30 * 86_400,
  refreshGraceSeconds: 30,
  passwordLengthMin: 15,
  keysPerAccountMax: 100,
  keyLifetimeDaysMax: 0,
  keyUnusedDaysMax: 0,
  sessionsPerAccountMax: 50,
  creationsPerMinuteMax: 300,
  usageDays: 400,
  auditDays: undefined,
  ipRangeLimits: [],
  isRateLimited: true,
  trustedProxies: [],
  corsOrigins: [],
  isSignUpOpen: false,
  ...mailDefaults,
  webhookTargets: [],
  issuerTargets: [],
  issuerAuthorities: undefined,
  drainSeconds: 8,
  hasGithubScanning: false,
  githubKeys: undefined,
  acceptsLeakReports: false,
  exchangeAudiences: [],
  traceRatio: 0,
  logLevel: 'info',
};

test('without any setting, the defaults are in force', () => {
  assert.deepEqual(readConfig({}), defaults);
  assert.deepEqual(readConfig({ PATH: '/bin', UNRELATED: 'x' }), defaults);
});

test('an empty setting has its default', () => {
  assert.deepEqual(readConfig(Object.fromEntries(names.map((name) => [name, '']))), defaults);
});

test('every setting has a name with the prefix KEYREEVE_, an explanation and a valid default', () => {
  for (const { name, doc, default: fallback, parse } of Object.values<Setting<unknown>>(settings)) {
    assert.match(name, /^KEYREEVE_[A-Z_]+$/);
    assert.match(doc, /^.{4,}\.$/s, name);
    assert.doesNotThrow(() => void parse(fallback), name);
  }
});

const mail = {
  KEYREEVE_SMTP_URL: 'smtps://user:p%40ss@mail.example.com:465',
  KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
};
const mailInForce = { smtpUrl: mail.KEYREEVE_SMTP_URL, mailFrom: mail.KEYREEVE_MAIL_FROM };

const accepted: readonly (readonly [environment: Environment, expected: Partial<Config>])[] = [
  [
    { KEYREEVE_PORT: '0', KEYREEVE_ADMIN_PORT: '0' },
    { port: 0, adminPort: 0 },
  ],
  [{ KEYREEVE_HOST: '::1' }, { host: '::1' }],
  [
    { KEYREEVE_PUBLIC_URL: 'https://auth.example.com/', KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' },
    { publicUrl: 'https://auth.example.com', trustedProxies: ['127.0.0.1/32'] },
  ],
  [{ KEYREEVE_PUBLIC_URL: 'http://localhost:3000' }, { publicUrl: 'http://localhost:3000' }],
  [{ KEYREEVE_CONSOLE: 'off' }, { hasConsole: false }],
  [{ KEYREEVE_DOCS: 'off' }, { hasDocs: false }],
  [{ KEYREEVE_TRACE_RATIO: '0.01' }, { traceRatio: 0.01 }],
  [{ KEYREEVE_TRACE_RATIO: '1' }, { traceRatio: 1 }],
  [{ KEYREEVE_CONSOLE_URL: 'https://console.example.com/' }, { consoleUrl: 'https://console.example.com' }],
  [
    { KEYREEVE_HOST: '0.0.0.0', KEYREEVE_PUBLIC_URL: 'https://a.example', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' },
    { host: '0.0.0.0', publicUrl: 'https://a.example', trustedProxies: ['10.0.0.1/32'] },
  ],
  [
    { KEYREEVE_HOST: '0.0.0.0', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' },
    { host: '0.0.0.0', trustedProxies: ['10.0.0.1/32'] },
  ],
  [{ KEYREEVE_TRUSTED_PROXIES: ' 10.0.0.0/8, ::1 ,' }, { trustedProxies: ['10.0.0.0/8', '::1/128'] }],
  [
    { KEYREEVE_CORS_ORIGINS: 'https://a.example,http://localhost:5173' },
    { corsOrigins: ['https://a.example', 'http://localhost:5173'] },
  ],
  [
    { KEYREEVE_CORS_ORIGINS: 'capacitor://localhost,chrome-extension://abcdefghijklmnopabcdefghijklmnop' },
    { corsOrigins: ['capacitor://localhost', 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'] },
  ],
  [{ KEYREEVE_CORS_ORIGINS: 'tauri://localhost:1430' }, { corsOrigins: ['tauri://localhost:1430'] }],
  [
    { KEYREEVE_DATABASE_URL: 'sqlite:/var/lib/keyreeve.db' },
    { database: { kind: 'sqlite', path: '/var/lib/keyreeve.db' }, deletionJournal: '/var/lib/keyreeve.db.deletions' },
  ],
  [
    { KEYREEVE_DATABASE_URL: 'sqlite:a b/c.db' },
    {
      database: { kind: 'sqlite', path: join(checkout, 'a b/c.db') },
      mayReadWorldReadableSecrets: false,
      deletionJournal: join(checkout, 'a b/c.db.deletions'),
    },
  ],
  [
    { KEYREEVE_KEY_PREFIX: 'acme', KEYREEVE_KEY_PREFIXES_ACCEPTED: 'krv,old_brand' },
    { keyPrefix: 'acme', keyPrefixesAccepted: ['krv', 'old_brand'] },
  ],
  [{ KEYREEVE_JWT_ALG: 'EdDSA' }, { jwtAlg: 'EdDSA' }],
  [{ KEYREEVE_PASSWORD_LENGTH_MIN: '8' }, { passwordLengthMin: 8 }],
  [{ KEYREEVE_THROTTLE: 'off' }, { isRateLimited: false }],
  [
    { KEYREEVE_SIGN_IN_RANGE_LIMITS: '10.0.0.5=5000,10.1.0.0/16=1000' },
    {
      ipRangeLimits: [
        { cidr: '10.0.0.5/32', failuresMax: 5_000 },
        { cidr: '10.1.0.0/16', failuresMax: 1_000 },
      ],
    },
  ],
  [mail, mailInForce],
  [
    { ...mail, KEYREEVE_SMTP_URL: 'smtp://127.0.0.1:2525' },
    { ...mailInForce, smtpUrl: 'smtp://127.0.0.1:2525' },
  ],
  [
    { ...mail, KEYREEVE_MAIL_FROM: 'Bücher & Töchter <konto@bücher.example>' },
    { ...mailInForce, mailFrom: 'Bücher & Töchter <konto@bücher.example>' },
  ],
  [
    { ...mail, KEYREEVE_SIGNUP: 'open', KEYREEVE_MAIL_TEMPLATES: '/srv/templates' },
    { ...mailInForce, isSignUpOpen: true, mailTemplates: '/srv/templates' },
  ],
  [{ KEYREEVE_API_URL: 'https://api.example.com/' }, { apiUrl: 'https://api.example.com', apiExample: undefined }],
  [
    { KEYREEVE_API_URL: 'https://example.com/api', KEYREEVE_API_EXAMPLE: 'POST /v1/orders?limit=1' },
    { apiUrl: 'https://example.com/api', apiExample: { method: 'POST', path: '/v1/orders?limit=1' } },
  ],
  [{ KEYREEVE_LINKS_URL: 'https://example.com/account/' }, { linksUrl: 'https://example.com/account' }],
  [{ KEYREEVE_LINKS_URL: 'http://localhost:3000' }, { linksUrl: 'http://localhost:3000' }],
  [
    { KEYREEVE_WEBHOOK_TARGETS: 'Hooks.Internal:8080, 127.0.0.1:80,[::1]:9,10.1.0.0/16,192.0.2.7,bücher.example:443' },
    {
      webhookTargets: [
        { kind: 'host', host: 'hooks.internal', port: 8_080 },
        { kind: 'host', host: '127.0.0.1', port: 80 },
        { kind: 'host', host: '::1', port: 9 },
        { kind: 'network', cidr: '10.1.0.0/16' },
        { kind: 'network', cidr: '192.0.2.7/32' },
        { kind: 'host', host: 'xn--bcher-kva.example', port: 443 },
      ],
    },
  ],
  [
    { KEYREEVE_ISSUER_TARGETS: 'gitlab.internal:443' },
    { issuerTargets: [{ kind: 'host', host: 'gitlab.internal', port: 443 }] },
  ],
  [{ KEYREEVE_ISSUER_CA: tlsPath('server.crt') }, { issuerAuthorities: [certificate] }],
  [{ KEYREEVE_MASTER_KEY: masterKeyText }, { masterKey: Buffer.alloc(32, 0xfb) }],
  [{ KEYREEVE_LOG_LEVEL: 'trace' }, { logLevel: 'trace' }],
];

for (const [environment, expected] of accepted) {
  test(`accepted: ${Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`, () => {
    assert.deepEqual(readConfig(environment), { ...defaults, ...expected });
  });
}

test(
  'with PostgreSQL, the master key must be set, because instances cannot share a file',
  { tags: ['asvs:13.2.3'] },
  () => {
    assert.throws(
      () => readConfig({ KEYREEVE_DATABASE_URL: 'postgres://keyreeve@db/auth' }),
      /KEYREEVE_MASTER_KEY must be set/,
    );
  },
);

for (const [name, value, reason] of invalidValues) {
  test(`rejected: ${name}=${value}`, () => {
    const mistakes = mistakesIn({ [name]: value });
    assert.equal(mistakes.length, 1, mistakes.join('\n'));
    assert.ok(mistakes[0]?.startsWith(`${name} `));
    assert.match(mistakes[0] ?? '', reason);
  });
}

test('all errors are reported together, one for each setting', () => {
  const wrong = Object.fromEntries(invalidValues.map(([name, value]) => [name, value]));
  const mistakes = mistakesIn({ ...wrong, KEYREEVE_TYPO: 'x', KEYREEVE_PORTS: '1' });
  const named = mistakes.map((mistake) => mistake.split(' ', 1)[0] ?? '').toSorted();
  assert.deepEqual(named, [...Object.keys(wrong), 'KEYREEVE_PORTS', 'KEYREEVE_TYPO'].toSorted());
  const free = new Set<string>(['KEYREEVE_AUDIENCE', 'KEYREEVE_DELETION_JOURNAL']);
  assert.deepEqual(
    names.filter((name) => !free.has(name) && !(name in wrong)),
    [],
    'each setting that can be invalid is in the table',
  );
});

test('names of clients are no settings, and are ignored', () => {
  const environment = Object.fromEntries(Object.keys(clientNames).map((name) => [name, 'x']));
  assert.deepEqual(readConfig(environment), defaults);
  for (const name of Object.keys(clientNames)) {
    assert.match(name, /^KEYREEVE_[A-Z_]+$/);
    assert.ok(!names.includes(name), name);
  }
  assert.deepEqual(mistakesIn({ KEYREEVE_URL: 'x', KEYREEVE_URI: 'x' }), ['KEYREEVE_URI is not a setting of Keyreeve']);
});

test('an unknown name with the prefix KEYREEVE_ is an error, unless a container platform sets it', () => {
  assert.deepEqual(mistakesIn({ KEYREEVE_KEY_PREFIXS: 'acme' }), ['KEYREEVE_KEY_PREFIXS is not a setting of Keyreeve']);
  assert.deepEqual(mistakesIn({ KEYREEVE_PORT_FILE: '/x' }), ['KEYREEVE_PORT_FILE is not a setting of Keyreeve']);
  assert.deepEqual(
    mistakesIn({ KEYREEVE_SERVICE_HOST: '10.0.0.1', KEYREEVE_PORT_8787_TCP: 'tcp://10.0.0.1:8787' }),
    [],
  );
});

const contradictory: readonly (readonly [environment: Environment, reason: RegExp])[] = [
  [{ KEYREEVE_SSO_ISSUER: 'https://id.example.com' }, /must all be set, or none of them/],
  [{ KEYREEVE_HOST: '0.0.0.0' }, /not a loopback address, but Keyreeve does not terminate TLS/],
  [{ KEYREEVE_HOST: '::' }, /not a loopback address/],
  [{ KEYREEVE_HOST: 'auth.internal' }, /not a loopback address/],
  [{ KEYREEVE_ADMIN_HOST: '0.0.0.0' }, /not a loopback address/],
  [{ KEYREEVE_HOST: '0.0.0.0', KEYREEVE_PUBLIC_URL: 'http://auth.example.com' }, /not a loopback address/],
  [
    { KEYREEVE_HOST: '0.0.0.0', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1', KEYREEVE_THROTTLE: 'off' },
    /KEYREEVE_THROTTLE can be off on a loopback address only/,
  ],
  [{ KEYREEVE_REFRESH_IDLE_TTL_SECONDS: '7200', KEYREEVE_REFRESH_MAX_TTL_SECONDS: '3600' }, /must be at least/],
  [{ KEYREEVE_PORT: '9000', KEYREEVE_ADMIN_PORT: '9000' }, /are the same/],
  [{ KEYREEVE_PORT: '9000', KEYREEVE_VERIFY_PORT: '9000' }, /KEYREEVE_VERIFY_PORT and KEYREEVE_PORT are the same/],
  [{ KEYREEVE_VERIFY_PORT: '8788' }, /KEYREEVE_VERIFY_PORT and KEYREEVE_ADMIN_PORT are the same/],
  [{ KEYREEVE_VERIFY_PORT: '8789', KEYREEVE_VERIFY_HOST: '0.0.0.0' }, /not a loopback address/],
  [{ KEYREEVE_VERIFY_PORT: '8789', KEYREEVE_VERIFY_SOCKET: 'verify.sock' }, /are both set: choose one/],
  [{ KEYREEVE_PUBLIC_PORT_VERIFIES: 'off' }, /can be off only with KEYREEVE_VERIFY_PORT or KEYREEVE_VERIFY_SOCKET/],
  [{ KEYREEVE_SMTP_URL: mail.KEYREEVE_SMTP_URL }, /must both be set, or neither/],
  [{ KEYREEVE_MAIL_FROM: mail.KEYREEVE_MAIL_FROM }, /must both be set, or neither/],
  [{ ...mailWithTokens, KEYREEVE_SMTP_OAUTH_SCOPE: '' }, /KEYREEVE_SMTP_OAUTH_SCOPE must all be set, or none of them/],
  [{ ...mailWithTokens, ...mail }, /needs a user name without a password in KEYREEVE_SMTP_URL/],
  [{ KEYREEVE_API_EXAMPLE: 'GET /v1/orders' }, /KEYREEVE_API_EXAMPLE can be set only with KEYREEVE_API_URL/],
  [{ KEYREEVE_SIGNUP: 'open' }, /KEYREEVE_SIGNUP can be open only with KEYREEVE_SMTP_URL/],
  [{ KEYREEVE_ENVIRONMENTS: 'live:acme,test:krv' }, /gives the prefix krv to a further environment/],
  [
    { KEYREEVE_ENVIRONMENTS: 'live:acme,test:acme_test', KEYREEVE_KEY_PREFIXES_ACCEPTED: 'older,acme_test' },
    /gives the prefix acme_test to a further environment/,
  ],
  [{ KEYREEVE_FORWARD_ENVIRONMENTS: 'any' }, /can be any only with KEYREEVE_ENVIRONMENTS/],
];

for (const [environment, reason] of contradictory) {
  test(
    `rejected together: ${Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
    { tags: ['asvs:12.2.1'] },
    () => {
      const mistakes = mistakesIn(environment);
      assert.equal(mistakes.length, 1, mistakes.join('\n'));
      assert.match(mistakes[0] ?? '', reason);
    },
  );
}

test('on a terminal, the default drain time is 0', () => {
  assert.equal(readConfig({}, { isTerminal: true }).drainSeconds, 0);
  assert.equal(readConfig({ KEYREEVE_DRAIN_SECONDS: '5' }, { isTerminal: true }).drainSeconds, 5);
});

test('a secret can be in a file that only its owner can read', () => {
  using folder = newTempFolder();
  const path = join(folder.path, 'master-key');
  writeFileSync(path, `${masterKeyText}\n`, { mode: 0o600 });
  assert.deepEqual(readConfig({ KEYREEVE_MASTER_KEY_FILE: path }).masterKey, Buffer.alloc(32, 0xfb));
  assert.deepEqual(
    readConfig({ KEYREEVE_MASTER_KEY_FILE: path, KEYREEVE_MASTER_KEY: '' }).masterKey,
    Buffer.alloc(32, 0xfb),
  );
  assert.match(
    mistakesIn({ KEYREEVE_MASTER_KEY_FILE: path, KEYREEVE_MASTER_KEY: masterKeyText }).join(),
    /are both set/,
  );
  for (const mode of [0o640, 0o604, 0o660, 0o644]) {
    chmodSync(path, mode);
    assert.match(
      mistakesIn({ KEYREEVE_MASTER_KEY_FILE: path }).join(),
      /can be read by others; it must have mode 0600/,
    );
  }
  chmodSync(path, 0o644);
  const accepting = { KEYREEVE_MASTER_KEY_FILE: path, KEYREEVE_WORLD_READABLE_SECRETS: 'accept' };
  assert.deepEqual(readConfig(accepting).masterKey, Buffer.alloc(32, 0xfb));
  assert.match(warningsOf(readConfig(accepting)).join(), /^KEYREEVE_WORLD_READABLE_SECRETS is accept/);
  chmodSync(path, 0o666);
  assert.match(mistakesIn(accepting).join(), /can be changed by others; it must have mode 0644 at most/);
  assert.match(mistakesIn({ KEYREEVE_MASTER_KEY_FILE: join(folder.path, 'none') }).join(), /can't be read/);
  writeFileSync(join(folder.path, 'empty'), '', { mode: 0o600 });
  assert.match(mistakesIn({ KEYREEVE_MASTER_KEY_FILE: join(folder.path, 'empty') }).join(), /is empty/);
});

test('errors and descriptions of settings contain no secret', () => {
  const almost = `${masterKeyText}x`;
  assert.ok(!mistakesIn({ KEYREEVE_MASTER_KEY: almost }).join().includes(almost.slice(0, 10)));
  const described = describeConfig({ KEYREEVE_MASTER_KEY: masterKeyText, KEYREEVE_PORT: '9000' });
  const namesOf = described.map(({ name }) => name);
  assert.deepEqual(namesOf, names);
  assert.ok(!JSON.stringify(described).includes(masterKeyText.slice(0, 10)));
  const shown = described.filter(({ source }) => source === 'environment');
  assert.deepEqual(shown, [
    { name: 'KEYREEVE_PORT', value: '9000', source: 'environment' },
    { name: 'KEYREEVE_MASTER_KEY', value: '[redacted]', source: 'environment' },
  ]);
});
