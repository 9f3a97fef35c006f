/**
 * The settings: one entry for each, with the environment variable, its default, its meaning and its parser. The type
 * `Config`, the reader (`config.ts`), `keyreeve doctor` and `docs/configuration.md` derive from this table.
 */
import { keyPrefixDefault, limits } from '@keyreeve/contract';
import {
  ipRangeLimit,
  cidr,
  databaseUrl,
  environments,
  flag,
  folder,
  githubKeysFile,
  hostName,
  integer,
  keyPrefix,
  httpOrigin,
  list,
  masterKey,
  oneOf,
  optional,
  origin,
  publicUrl,
  ratio,
  webhookTarget,
} from './config-values.ts';
import { describeDatabase } from '../../foundation/database/database.ts';
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
    'Host names in the URL of [metrics](operating.md#metrics-and-what-to-do), separated by commas, besides IP addresses, `localhost` and the name of the machine.',
    list(hostName),
  ),
  publicUrl: setting(
    'KEYREEVE_PUBLIC_URL',
    '',
    'The URL that clients use, for example `https://auth.example.com`: the issuer of tokens and the base of links. It may have [a path](deploy.md#below-a-path), such as `https://example.com/id`. Default: `http://localhost:<port>`.',
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
    'The [console](console.md): pages at `/console` for people and administrators. `off`: these paths do not exist.',
    flag('on', ['on', 'off']),
  ),
  consoleUrl: setting(
    'KEYREEVE_CONSOLE_URL',
    '',
    'The origin at which browsers open the console, for example `https://console.example.com`. If its host differs from that of the public URL, only requests for this host reach the console. Default: the public URL.',
    optional(httpOrigin),
  ),
  passkeyRpId: setting(
    'KEYREEVE_PASSKEY_RP_ID',
    '',
    'The relying party id of [passkeys](passkeys.md#the-relying-party-id): the host of the console’s URL, or a domain that it is in. Browsers offer passkeys only for the id that they were created for. Default: the host of the console’s URL.',
    optional(hostName),
  ),
  ...singleSignOnSettings,
  database: setting(
    'KEYREEVE_DATABASE_URL',
    'sqlite:data/keyreeve.db',
    'The database URL. SQLite: `sqlite:<path>`, relative to the checkout or, for an installed program, to the working folder. PostgreSQL: `postgres://user:password@host:5432/database`, with the [parameters of providers](postgresql.md#the-database-url). `sslmode` is `verify-full` by default, except on this machine.',
    databaseUrl,
    { isSecret: true, describe: describeDatabaseUrl },
  ),
  sqliteMappedMib: setting(
    'KEYREEVE_SQLITE_MMAP_MIB',
    '0',
    'SQLite: MiB of the file to map into memory, which makes reads cheaper if the file exceeds the page cache of 40 MiB. At most 2047; 0 maps nothing. A disk error or a truncation of a mapped file ends the process.',
    integer(0, 2_047),
  ),
  masterKey: setting(
    'KEYREEVE_MASTER_KEY',
    '',
    '32 bytes in base64url (`openssl rand 32 | basenc --base64url`). Default for SQLite: the file `<path>.master-key`, created with a new database. PostgreSQL requires a value.',
    optional(masterKey),
    { isSecret: true },
  ),
  mayReadWorldReadableSecrets: setting(
    'KEYREEVE_WORLD_READABLE_SECRETS',
    'refuse',
    '`accept` permits secret files that every user can read, such as those of Docker Swarm (0444). Files that others can change are always rejected.',
    flag('accept', ['refuse', 'accept']),
  ),
  deletionJournal: setting(
    'KEYREEVE_DELETION_JOURNAL',
    '',
    'Folder of the [deletion journal](backup.md#the-deletion-journal), preferably on another disk than the database. Default for SQLite: `<path>.deletions`. PostgreSQL has none.',
    optional(folder),
  ),
  keyPrefix: setting('KEYREEVE_KEY_PREFIX', keyPrefixDefault, 'Prefix of API keys: `[a-z][a-z0-9_]{1,20}`.', keyPrefix),
  keyPrefixesAccepted: setting(
    'KEYREEVE_KEY_PREFIXES_ACCEPTED',
    '',
    'Earlier prefixes, separated by commas. Keys with these prefixes remain valid.',
    list(keyPrefix),
  ),
  environments: setting(
    'KEYREEVE_ENVIRONMENTS',
    '',
    '[Environments](environments.md) of API keys with their prefixes, at most 8, for example `live:acme_live,test:acme_test`. Verification accepts only keys of the first one, unless a request names others. The first one stays the first.',
    environments,
  ),
  forwardEnvironments: setting(
    'KEYREEVE_FORWARD_ENVIRONMENTS',
    'first',
    '`any`: `/auth/forward` accepts keys of all environments, and `X-Keyreeve-Environment` has the name.',
    oneOf(['first', 'any'] as const),
  ),
  scopes: setting(
    'KEYREEVE_SCOPES',
    'open',
    '`catalogue`: accounts can give their keys only scopes of the [scope catalogue](scopes.md), and every verification applies it. All instances need the same value.',
    oneOf(['open', 'catalogue'] as const),
  ),
  acceptsLeakReports: setting(
    'KEYREEVE_LEAK_REPORTS',
    'off',
    '`on`: a client that has a [leaked secret](leaks.md) of an API key can end it with `POST /auth/leaks`, without another credential.',
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
    'A session ends when it has not been refreshed for this time (14 days).',
    integer(60, 31_536_000),
  ),
  refreshMaxTtlSeconds: setting(
    'KEYREEVE_REFRESH_MAX_TTL_SECONDS',
    '2592000',
    'A session ends this time after its sign-in (30 days).',
    integer(60, 31_536_000),
  ),
  refreshGraceSeconds: setting(
    'KEYREEVE_REFRESH_GRACE_SECONDS',
    '30',
    'For this time, a replaced refresh token returns the same successor again.',
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
    'Longest lifetime of an API key in days, from its creation or from a change of its expiry. A key that is created without an expiry gets this lifetime. Existing and imported keys keep their expiry. 0: no limit.',
    integer(0, 36_500),
  ),
  keyUnusedDaysMax: setting(
    'KEYREEVE_KEY_UNUSED_DAYS_MAX',
    '0',
    'Days after which an API key that was neither used nor changed is [disabled](api-keys.md#unused-keys). 0: never.',
    integer(0, 36_500),
  ),
  sessionsPerAccountMax: setting(
    'KEYREEVE_SESSIONS_PER_ACCOUNT_MAX',
    '50',
    'Sessions per account. A further sign-in ends the oldest.',
    integer(1, 10_000),
  ),
  creationsPerMinuteMax: setting(
    'KEYREEVE_CREATIONS_PER_MINUTE_MAX',
    '300',
    'API keys that one account can create or rotate in a minute.',
    integer(1, 100_000),
  ),
  usageDays: setting(
    'KEYREEVE_USAGE_DAYS',
    '400',
    'Days for which the [usage](api-keys.md#usage) of API keys is kept. 0: verifications are not counted, and stored usage is deleted.',
    integer(0, 3_650),
  ),
  auditDays: setting(
    'KEYREEVE_AUDIT_DAYS',
    '',
    `Days for which [audit events](audit.md#retention) are kept, at least ${auditDaysMin}. Default: for ever. All instances need the same value. Set it after all of them run a version that supports it.`,
    optional(integer(auditDaysMin, 36_500)),
  ),
  ipRangeLimits: setting(
    'KEYREEVE_LOGIN_ADDRESS_LIMITS',
    '',
    `Failed sign-ins in ${limits.loginWindowSeconds / 60} minutes for networks that need more than ${limits.loginAddressFailuresMax}, such as a backend that signs in its users: \`10.0.0.5=5000,10.1.0.0/16=1000\`.`,
    list(ipRangeLimit),
  ),
  isRateLimited: setting(
    'KEYREEVE_THROTTLE',
    'on',
    '`off` disables the rate limits of sign-ins and of creations and changes of keys, for load tests on a loopback address.',
    flag('on', ['on', 'off']),
  ),
  trustedProxies: setting(
    'KEYREEVE_TRUSTED_PROXIES',
    '',
    'IP addresses or networks from which proxies connect, separated by commas. Only these can set `X-Forwarded-For` and `X-Forwarded-Proto`. The client IP from `X-Forwarded-For` decides rate limits and [keys with IP ranges](forward-auth.md#keys-with-ip-ranges), so list only proxies that append their peer to it or replace it. Set it when the public URL is https.',
    list(cidr),
  ),
  corsOrigins: setting(
    'KEYREEVE_CORS_ORIGINS',
    '',
    'Origins whose pages can call the service, separated by commas. Apps in a web view and browser extensions have origins such as `capacitor://localhost` and `chrome-extension://<id>`; write them as the browser does. `null` is not possible.',
    list(origin),
  ),
  isSignUpOpen: setting(
    'KEYREEVE_SIGNUP',
    'closed',
    '`open` permits sign-up with `POST /auth/accounts`. It requires mail.',
    flag('open', ['closed', 'open']),
  ),
  ...mailSettings,
  webhookTargets: setting(
    'KEYREEVE_WEBHOOK_TARGETS',
    '',
    'Internal receivers that [webhooks](webhooks.md#where-deliveries-may-go) can reach, also over http: `hooks.internal:8080` for one port of a host, `10.1.0.0/16` for all ports of a network. An administrator can then make Keyreeve send requests there.',
    list(webhookTarget),
  ),
  hasGithubScanning: setting(
    'KEYREEVE_GITHUB_SCANNING',
    'off',
    '`on` accepts reports of [GitHub secret scanning](leaks.md#github-secret-scanning) at `POST /auth/leaks/github`.',
    flag('on', ['off', 'on']),
  ),
  githubKeys: setting(
    'KEYREEVE_GITHUB_SCANNING_KEYS',
    '',
    'File with the public keys of GitHub, as `https://api.github.com/meta/public_keys/secret_scanning` returns them. Without it, the service requests that URL when a report names an unknown key or the keys are older than 24 hours.',
    optional(githubKeysFile),
  ),
  workers: setting(
    'KEYREEVE_WORKERS',
    '1',
    'Processes that share the port, 130 MiB each. Use one per core when requests saturate one core.',
    integer(1, 64),
  ),
  drainSeconds: setting(
    'KEYREEVE_DRAIN_SECONDS',
    '8',
    'Time to finish after SIGTERM. Default on a terminal: 0.',
    integer(0, 300),
    { terminalDefault: '0' },
  ),
  traceRatio: setting(
    'KEYREEVE_TRACE_RATIO',
    '0',
    'The share of requests that are recorded as [spans](tracing.md) although no trusted proxy has decided: 0.01 is one in a hundred. Needs the package `@keyreeve/otel`. 0: only requests whose `traceparent` has the flag `sampled` and comes from a trusted proxy.',
    ratio,
  ),
  logLevel: setting('KEYREEVE_LOG_LEVEL', 'info', `Log level: ${logLevels.join(', ')}.`, oneOf(logLevels)),
} as const;
