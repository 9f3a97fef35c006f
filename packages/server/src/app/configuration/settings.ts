/**
 * The settings: one entry for each, with the environment variable, its default, its meaning and its parser. The type
 * `Config`, the reader (`config.ts`), `keyreeve doctor` and `docs/configuration.md` derive from this table.
 */
import { keyPrefixDefault, limits } from '@keyreeve/contract';
import {
  accent,
  ipRangeLimit,
  cidr,
  databaseUrl,
  environments,
  exampleRequest,
  flag,
  folder,
  githubKeysFile,
  hostName,
  integer,
  keyPrefix,
  httpOrigin,
  linksUrl,
  list,
  markFile,
  masterKey,
  oneOf,
  optional,
  origin,
  publicUrl,
  ratio,
  webhookTarget,
} from './config-values.ts';
import { describeDatabase } from '../../foundation/database/database.ts';
import { backupSettings } from './backup-settings.ts';
import { mailSettings } from './mail-settings.ts';
import { setting } from './setting.ts';
import { singleSignOnSettings } from './single-sign-on-settings.ts';
import { auditDaysMin } from '../../modules/audit/cuts.ts';
import { logLevels } from '../../foundation/log.ts';
import { signingAlgorithms } from '../../modules/signing-keys/signing-keys.ts';

const describeDatabaseUrl = (text: string): string =>
  text.startsWith('sqlite:') ? text : describeDatabase(databaseUrl(text));

export const settings = {
  host: setting('KEYREEVE_HOST', '127.0.0.1', 'Host name or IP address that the service listens on.', hostName),
  port: setting('KEYREEVE_PORT', '8787', 'Port of the service; 0 selects a free one.', integer(0, 65_535)),
  verifyPort: setting(
    'KEYREEVE_VERIFY_PORT',
    '',
    'Port of a [listener that only verifies](deploy.md#a-listener-that-only-verifies), in processes of its own; 0 selects a free one.',
    optional(integer(0, 65_535)),
  ),
  verifyHost: setting(
    'KEYREEVE_VERIFY_HOST',
    '',
    'Host name or IP address of that listener. Default: `KEYREEVE_HOST`.',
    optional(hostName),
  ),
  verifySocket: setting(
    'KEYREEVE_VERIFY_SOCKET',
    '',
    'Path of a unix socket for that listener, instead of the port. Its user and group can connect; the peer counts as a trusted proxy.',
    optional(folder),
  ),
  verifiers: setting('KEYREEVE_VERIFIERS', '1', 'Processes that share that listener.', integer(1, 64)),
  isPublicPortVerifying: setting(
    'KEYREEVE_PUBLIC_PORT_VERIFIES',
    'on',
    '`off`: only that listener verifies; the other port returns `404` for the routes of verifications.',
    flag('on', ['on', 'off']),
  ),
  adminHost: setting('KEYREEVE_ADMIN_HOST', '127.0.0.1', 'Host name or IP address for metrics and health.', hostName),
  adminPort: setting(
    'KEYREEVE_ADMIN_PORT',
    '8788',
    'Port for metrics and health; 0 selects a free one.',
    integer(0, 65_535),
  ),
  adminNames: setting(
    'KEYREEVE_ADMIN_NAMES',
    '',
    'Further host names of [`/metrics`](operating.md#alerts), separated by commas.',
    list(hostName),
  ),
  publicUrl: setting(
    'KEYREEVE_PUBLIC_URL',
    '',
    'URL that clients use, such as `https://auth.example.com`: issuer of tokens and base of links. It may have [a path](deploy.md#below-a-path). Default: `http://localhost:<port>`.',
    optional(publicUrl),
  ),
  audience: setting(
    'KEYREEVE_AUDIENCE',
    '',
    'The `aud` of access tokens. Default: the public URL.',
    optional((text) => text),
  ),
  hasConsole: setting(
    'KEYREEVE_CONSOLE',
    'on',
    'The [console](console.md) at `/console`. `off`: these paths do not exist.',
    flag('on', ['on', 'off']),
  ),
  consoleUrl: setting(
    'KEYREEVE_CONSOLE_URL',
    '',
    'Origin of the console, such as `https://console.example.com`. If its host is another one, the console exists only there. Default: the public URL.',
    optional(httpOrigin),
  ),
  hasDocs: setting(
    'KEYREEVE_DOCS',
    'on',
    'This documentation at `/docs`. `off`: these paths do not exist.',
    flag('on', ['on', 'off']),
  ),
  hasConsoleServiceAccounts: setting(
    'KEYREEVE_CONSOLE_SERVICE_ACCOUNTS',
    'on',
    '`off`: the console shows service accounts only to administrators. The API is the same.',
    flag('on', ['on', 'off']),
  ),
  hasManagementKeys: setting(
    'KEYREEVE_CONSOLE_MANAGEMENT_KEYS',
    'off',
    '`on`: administrators can create [management keys](service-accounts.md#without-a-shell) in the console and the API, with password and second factor. It requires mail.',
    flag('on', ['off', 'on']),
  ),
  mark: setting(
    'KEYREEVE_MARK',
    '',
    'File with [your mark](console.md#your-name-mark-and-colour), an SVG or PNG image, for the console, the pages of links in mail, and, as PNG, mail.',
    optional(markFile),
  ),
  accent: setting(
    'KEYREEVE_ACCENT',
    '',
    'Your colour, such as `#0a7d5a`, for the same. Its shades keep their contrast in both themes.',
    optional(accent),
  ),
  apiUrl: setting(
    'KEYREEVE_API_URL',
    '',
    'URL of your API, such as `https://api.example.com`. The console then shows everybody [how to try a key](console.md#what-people-try) there.',
    optional(linksUrl),
  ),
  apiExample: setting(
    'KEYREEVE_API_EXAMPLE',
    '',
    'That request: a method, and a path below `KEYREEVE_API_URL`, such as `GET /v1/orders?limit=1`. Default: `GET /`.',
    optional(exampleRequest),
  ),
  passkeyRpId: setting(
    'KEYREEVE_PASSKEY_RP_ID',
    '',
    '[Relying party id](passkeys.md#the-relying-party-id) of passkeys: the host of the console’s URL (default), or its domain. Passkeys work only with their id.',
    optional(hostName),
  ),
  ...singleSignOnSettings,
  database: setting(
    'KEYREEVE_DATABASE_URL',
    'sqlite:data/keyreeve.db',
    'The database URL. SQLite: `sqlite:<path>`, relative to the checkout or, if installed, the working folder. PostgreSQL: `postgres://user:password@host:5432/database`, with [parameters](postgresql.md#the-database-url).',
    databaseUrl,
    { isSecret: true, describe: describeDatabaseUrl },
  ),
  databaseCa: setting(
    'KEYREEVE_DATABASE_CA',
    '',
    'File with the certificates of a private authority that signed the certificate of PostgreSQL, for a URL without `sslrootcert`.',
    optional(folder),
  ),
  databaseFailover: setting(
    'KEYREEVE_DATABASE_FAILOVER',
    'fenced',
    '`unfenced`: [an orchestrator](cluster.md#postgresql-with-automatic-failover) can promote another PostgreSQL server while the earlier primary still answers. All instances need the same value.',
    oneOf(['fenced', 'unfenced'] as const),
  ),
  masterKey: setting(
    'KEYREEVE_MASTER_KEY',
    '',
    '32 bytes in base64url (`openssl rand 32 | basenc --base64url`). Default for SQLite: the file `<path>.master-key`. Required for PostgreSQL.',
    optional(masterKey),
    { isSecret: true },
  ),
  mayReadWorldReadableSecrets: setting(
    'KEYREEVE_WORLD_READABLE_SECRETS',
    'refuse',
    '`accept` permits [secret files](operating.md#secret-files) that every user can read.',
    flag('accept', ['refuse', 'accept']),
  ),
  deletionJournal: setting(
    'KEYREEVE_DELETION_JOURNAL',
    '',
    'Folder of the [deletion journal](backup.md#the-deletion-journal), preferably on another disk. Default for SQLite: `<path>.deletions`; PostgreSQL has none.',
    optional(folder),
  ),
  bootstrap: setting(
    'KEYREEVE_BOOTSTRAP',
    '',
    'File that a start [applies](apply.md), once for each generation. A start fails with a file that cannot be applied.',
    optional(folder),
  ),
  keyPrefix: setting('KEYREEVE_KEY_PREFIX', keyPrefixDefault, 'Prefix of API keys: `[a-z][a-z0-9_]{1,20}`.', keyPrefix),
  keyPrefixesAccepted: setting(
    'KEYREEVE_KEY_PREFIXES_ACCEPTED',
    '',
    'Earlier prefixes, separated by commas, whose keys stay valid.',
    list(keyPrefix),
  ),
  environments: setting(
    'KEYREEVE_ENVIRONMENTS',
    '',
    '[Environments](environments.md) of API keys and their prefixes, at most 8, such as `live:acme_live,test:acme_test`. The first one stays the first.',
    environments,
  ),
  forwardEnvironments: setting(
    'KEYREEVE_FORWARD_ENVIRONMENTS',
    'first',
    '`any`: `/auth/forward` accepts keys of [all environments](environments.md#verify-keys-at-a-proxy).',
    oneOf(['first', 'any'] as const),
  ),
  scopes: setting(
    'KEYREEVE_SCOPES',
    'open',
    '`catalogue`: keys have only scopes of the [scope catalogue](scopes.md). All instances need the same value.',
    oneOf(['open', 'catalogue'] as const),
  ),
  acceptsLeakReports: setting(
    'KEYREEVE_LEAK_REPORTS',
    'off',
    '`on`: a client can end a [leaked secret](leaks.md) with `POST /auth/leaks`, without another credential.',
    flag('on', ['off', 'on']),
  ),
  jwtAlg: setting(
    'KEYREEVE_JWT_ALG',
    'ES256',
    `Signature algorithm of access tokens: ${signingAlgorithms.join(', ')}.`,
    oneOf(signingAlgorithms),
  ),
  accessTokenTtlSeconds: setting(
    'KEYREEVE_ACCESS_TOKEN_TTL_SECONDS',
    '600',
    'Lifetime of an access token.',
    integer(30, 3_600),
  ),
  refreshIdleTtlSeconds: setting(
    'KEYREEVE_REFRESH_IDLE_TTL_SECONDS',
    '1209600',
    'Lifetime of a session without a refresh (14 days).',
    integer(60, 31_536_000),
  ),
  refreshMaxTtlSeconds: setting(
    'KEYREEVE_REFRESH_MAX_TTL_SECONDS',
    '2592000',
    'Lifetime of a session from its sign-in (30 days).',
    integer(60, 31_536_000),
  ),
  refreshGraceSeconds: setting(
    'KEYREEVE_REFRESH_GRACE_SECONDS',
    '30',
    'Time in which a replaced refresh token returns the same successor.',
    integer(0, 300),
  ),
  passwordLengthMin: setting(
    'KEYREEVE_PASSWORD_LENGTH_MIN',
    '15',
    'Minimum length of a new password, in characters.',
    integer(limits.passwordLengthFloor, 64),
  ),
  keysPerAccountMax: setting('KEYREEVE_KEYS_PER_ACCOUNT_MAX', '100', 'API keys per account.', integer(1, 100_000)),
  keyLifetimeDaysMax: setting(
    'KEYREEVE_KEY_LIFETIME_DAYS_MAX',
    '0',
    'Longest and default lifetime of an API key in days. Existing and imported keys keep theirs. 0: no limit.',
    integer(0, 36_500),
  ),
  keyUnusedDaysMax: setting(
    'KEYREEVE_KEY_UNUSED_DAYS_MAX',
    '0',
    'Days after which an unused, unchanged API key is [disabled](api-keys.md#unused-keys). 0: never.',
    integer(0, 36_500),
  ),
  sessionsPerAccountMax: setting(
    'KEYREEVE_SESSIONS_PER_ACCOUNT_MAX',
    '50',
    'Sessions per account; a further one ends the oldest.',
    integer(1, 10_000),
  ),
  creationsPerMinuteMax: setting(
    'KEYREEVE_CREATIONS_PER_MINUTE_MAX',
    '300',
    'Creations and rotations of API keys per account and minute.',
    integer(1, 100_000),
  ),
  usageDays: setting(
    'KEYREEVE_USAGE_DAYS',
    '400',
    'Days of stored [usage](api-keys.md#usage) of API keys. 0: nothing is counted, and stored usage is deleted.',
    integer(0, 3_650),
  ),
  auditDays: setting(
    'KEYREEVE_AUDIT_DAYS',
    '',
    `Days of stored [audit events](audit.md#retention), at least ${auditDaysMin}. Default: for ever. All instances need the same value.`,
    optional(integer(auditDaysMin, 36_500)),
  ),
  ipRangeLimits: setting(
    'KEYREEVE_SIGN_IN_RANGE_LIMITS',
    '',
    `Failed sign-ins in ${limits.signInWindowSeconds / 60} minutes for networks that need more than ${limits.signInRangeFailuresMax}, such as a backend: \`10.0.0.5=5000,10.1.0.0/16=1000\`.`,
    list(ipRangeLimit),
  ),
  isRateLimited: setting(
    'KEYREEVE_THROTTLE',
    'on',
    '`off`: no rate limits of sign-ins and changes of keys, for load tests on a loopback address.',
    flag('on', ['on', 'off']),
  ),
  trustedProxies: setting(
    'KEYREEVE_TRUSTED_PROXIES',
    '',
    'IP addresses or networks of [proxies](operating.md#behind-a-proxy), separated by commas. Only they set `X-Forwarded-For` and `X-Forwarded-Proto`: list those that append their peer or replace it. Needed with an https public URL.',
    list(cidr),
  ),
  corsOrigins: setting(
    'KEYREEVE_CORS_ORIGINS',
    '',
    'Origins whose pages can call the service, separated by commas, also `capacitor://localhost` or `chrome-extension://<id>`; not `null`.',
    list(origin),
  ),
  isSignUpOpen: setting(
    'KEYREEVE_SIGNUP',
    'closed',
    '`open` permits `POST /auth/accounts`; it requires mail.',
    flag('open', ['closed', 'open']),
  ),
  ...mailSettings,
  ...backupSettings,
  webhookTargets: setting(
    'KEYREEVE_WEBHOOK_TARGETS',
    '',
    'Internal receivers of [webhooks](webhooks.md#where-deliveries-may-go), also over http: `hooks.internal:8080` for a port, `10.1.0.0/16` for a network. Administrators can send requests there.',
    list(webhookTarget),
  ),
  hasGithubScanning: setting(
    'KEYREEVE_GITHUB_SCANNING',
    'off',
    '`on` accepts reports of [GitHub secret scanning](leaks.md#github-secret-scanning).',
    flag('on', ['off', 'on']),
  ),
  githubKeys: setting(
    'KEYREEVE_GITHUB_SCANNING_KEYS',
    '',
    'File with the response of `https://api.github.com/meta/public_keys/secret_scanning`, which the service otherwise requests.',
    optional(githubKeysFile),
  ),
  drainSeconds: setting(
    'KEYREEVE_DRAIN_SECONDS',
    '8',
    '[Time](operating.md#starting-and-stopping) to finish after SIGTERM. On a terminal: 0.',
    integer(0, 300),
    { terminalDefault: '0' },
  ),
  traceRatio: setting(
    'KEYREEVE_TRACE_RATIO',
    '0',
    'Share of requests recorded as [spans](tracing.md) if no trusted proxy decides; needs `@keyreeve/otel`.',
    ratio,
  ),
  logLevel: setting('KEYREEVE_LOG_LEVEL', 'info', `Log level: ${logLevels.join(', ')}.`, oneOf(logLevels)),
} as const;
