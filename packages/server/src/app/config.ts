/**
 * Configuration: every environment variable with its default and its meaning, in one table. This is the only reader of
 * the environment; `docs/configuration.md` is tested against the table. All mistakes are reported together.
 */
import { keyPrefixDefault, languages, limits, type Language } from '@keyreeve/contract';
import {
  ipRangeLimit,
  cidr,
  databaseUrl,
  folder,
  hostName,
  integer,
  keyPrefix,
  linksUrl,
  list,
  mailFrom,
  masterKey,
  oneOf,
  origin,
  publicUrl,
  smtpUrl,
  webhookTarget,
} from './config-values.ts';
import { describeDatabase, type DatabaseLocation } from '../foundation/database/database.ts';
import { logLevels, type LogLevel } from '../foundation/log.ts';
import { readSecretFile } from '../foundation/secret-file.ts';
import { signingAlgorithms, type SigningAlgorithm } from '../modules/signing-keys/signing-keys.ts';
import { isLoopback } from '../foundation/ip-address.ts';
import type { IpRangeLimit } from '../modules/rate-limits/sign-in-limits.ts';
import type { WebhookTarget } from '../modules/webhooks/address-guard.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Variable<T> {
  /** As text, the way an operator would write it. */
  readonly default: string;
  readonly doc: string;
  /** The value may also be given as the path of a file, in the variable with `_FILE` at its end. */
  readonly isSecret?: boolean;
  /** @throws Error whose message completes "NAME …" */
  readonly parse: (text: string) => T;
}

const variable = <T>(fallback: string, doc: string, parse: (text: string) => T, isSecret = false): Variable<T> => ({
  default: fallback,
  doc,
  parse,
  isSecret,
});

export const variables = {
  KEYREEVE_HOST: variable('127.0.0.1', 'Host name or IP address that the service listens on.', hostName),
  KEYREEVE_PORT: variable('8787', 'Port of the service; 0 selects a free one.', integer(0, 65_535)),
  KEYREEVE_ADMIN_HOST: variable('127.0.0.1', 'Host name or IP address for metrics and health.', hostName),
  KEYREEVE_ADMIN_PORT: variable('8788', 'Port for metrics and health; 0 selects a free one.', integer(0, 65_535)),
  KEYREEVE_PUBLIC_URL: variable(
    '',
    'The URL that clients use, for example `https://auth.example.com`: the issuer of tokens and the base of links. Default: `http://localhost:<port>`.',
    publicUrl,
  ),
  KEYREEVE_AUDIENCE: variable('', 'The `aud` of access tokens. Default: the public URL.', (text) => text),
  KEYREEVE_DATABASE_URL: variable(
    'sqlite:data/keyreeve.db',
    'The database URL. SQLite: `sqlite:<path>`, relative to the checkout or, for an installed program, to the working folder. PostgreSQL: `postgres://user:password@host:5432/database`. Parameters: `sslmode` = `verify-full` (default, except on this machine), `verify-ca`, `require` or `disable`; `sslrootcert=<file>`; `host=<folder of a socket>`.',
    databaseUrl,
    true,
  ),
  KEYREEVE_MASTER_KEY: variable(
    '',
    '32 bytes in base64url (`openssl rand 32 | basenc --base64url`). Default for SQLite: the file `<path>.master-key`, created with a new database. PostgreSQL requires a value.',
    masterKey,
    true,
  ),
  KEYREEVE_WORLD_READABLE_SECRETS: variable(
    'refuse',
    '`accept` permits secret files that every user can read, such as those of Docker Swarm (0444). Files that others can change are always rejected.',
    oneOf(['refuse', 'accept']),
  ),
  KEYREEVE_DELETION_JOURNAL: variable(
    '',
    'Folder of the [deletion journal](backup.md#the-deletion-journal), preferably on another disk than the database. Default for SQLite: `<path>.deletions`. PostgreSQL has none.',
    folder,
  ),
  KEYREEVE_KEY_PREFIX: variable(keyPrefixDefault, 'Prefix of API keys: `[a-z][a-z0-9_]{1,20}`.', keyPrefix),
  KEYREEVE_KEY_PREFIXES_ACCEPTED: variable(
    '',
    'Earlier prefixes, separated by commas. Keys with these prefixes remain valid.',
    list(keyPrefix),
  ),
  KEYREEVE_JWT_ALG: variable(
    'ES256',
    `Signature algorithm of access tokens: ${signingAlgorithms.join(', ')}.`,
    oneOf(signingAlgorithms),
  ),
  KEYREEVE_ACCESS_TOKEN_TTL_SECONDS: variable('600', 'Lifetime of an access token.', integer(30, 3_600)),
  KEYREEVE_REFRESH_IDLE_TTL_SECONDS: variable(
    '1209600',
    'A session ends when it has not been refreshed for this time (14 days).',
    integer(60, 31_536_000),
  ),
  KEYREEVE_REFRESH_MAX_TTL_SECONDS: variable(
    '2592000',
    'A session ends this time after its sign-in (30 days).',
    integer(60, 31_536_000),
  ),
  KEYREEVE_REFRESH_GRACE_SECONDS: variable(
    '30',
    'For this time, a replaced refresh token returns the same successor again.',
    integer(0, 300),
  ),
  KEYREEVE_PASSWORD_LENGTH_MIN: variable(
    '15',
    'Minimum length of a new password, in characters.',
    integer(limits.passwordLengthFloor, 64),
  ),
  KEYREEVE_KEYS_PER_ACCOUNT_MAX: variable('100', 'API keys per account.', integer(1, 100_000)),
  KEYREEVE_SESSIONS_PER_ACCOUNT_MAX: variable(
    '50',
    'Sessions per account. A further sign-in ends the oldest.',
    integer(1, 10_000),
  ),
  KEYREEVE_CREATIONS_PER_MINUTE_MAX: variable(
    '300',
    'API keys that one account can create in a minute.',
    integer(1, 100_000),
  ),
  KEYREEVE_LOGIN_ADDRESS_LIMITS: variable(
    '',
    `Failed sign-ins in ${limits.loginWindowSeconds / 60} minutes for networks that need more than ${limits.loginAddressFailuresMax}, such as a backend that signs in its users: \`10.0.0.5=5000,10.1.0.0/16=1000\`.`,
    list(ipRangeLimit),
  ),
  KEYREEVE_THROTTLE: variable(
    'on',
    '`off` disables the rate limits of sign-ins and key creations, for load tests on a loopback address.',
    oneOf(['on', 'off']),
  ),
  KEYREEVE_TRUSTED_PROXIES: variable(
    '',
    'IP addresses or networks from which proxies connect, separated by commas. Only these can set `X-Forwarded-For` and `X-Forwarded-Proto`. Set it when the public URL is https.',
    list(cidr),
  ),
  KEYREEVE_CORS_ORIGINS: variable('', 'Origins whose pages can call the service, separated by commas.', list(origin)),
  KEYREEVE_SIGNUP: variable(
    'closed',
    '`open` permits sign-up with `POST /auth/accounts`. It requires mail.',
    oneOf(['closed', 'open']),
  ),
  KEYREEVE_SMTP_URL: variable(
    '',
    'The mail server: `smtps://user:password@host:465` (TLS) or `smtp://user:password@host:587` (STARTTLS, required except on this machine). Without it, no mail is sent.',
    smtpUrl,
    true,
  ),
  KEYREEVE_MAIL_FROM: variable('', 'Sender of mail, for example `Example <accounts@example.com>`.', mailFrom),
  KEYREEVE_MAIL_TEMPLATES: variable(
    '',
    'Folder with [templates](mail.md) that replace the built-in ones of the same name.',
    folder,
  ),
  KEYREEVE_LINKS_URL: variable(
    '',
    'Base URL of the links in mail, for example `https://example.com/account`. Default: the pages of the service.',
    linksUrl,
  ),
  KEYREEVE_LANGUAGE: variable(
    'en',
    `Default language of mail and of the pages that its links open: ${languages.join(', ')}.`,
    oneOf(languages),
  ),
  KEYREEVE_SIGN_IN_URL: variable(
    '',
    'Your sign-in page, for example `https://example.com/sign-in`. The pages that mail links open lead to it.',
    linksUrl,
  ),
  KEYREEVE_WEBHOOK_TARGETS: variable(
    '',
    'Internal receivers that [webhooks](webhooks.md#where-deliveries-may-go) can reach, also over http: `hooks.internal:8080` for one port of a host, `10.1.0.0/16` for all ports of a network. An administrator can then make Keyreeve send requests there.',
    list(webhookTarget),
  ),
  KEYREEVE_WORKERS: variable(
    '1',
    'Processes that share the port, 130 MiB each. Use one per core when requests saturate one core.',
    integer(1, 64),
  ),
  KEYREEVE_DRAIN_SECONDS: variable('8', 'Time to finish after SIGTERM. Default on a terminal: 0.', integer(0, 300)),
  KEYREEVE_LOG_LEVEL: variable('info', `Log level: ${logLevels.join(', ')}.`, oneOf(logLevels)),
} as const;

type Variables = typeof variables;
type Name = keyof Variables;
type Value<N extends Name> = ReturnType<Variables[N]['parse']>;

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Undefined until the port is known. */
  readonly publicUrl: string | undefined;
  readonly audience: string | undefined;
  readonly database: DatabaseLocation;
  /** Undefined where it is kept beside the embedded database. */
  readonly masterKey: Buffer | undefined;
  readonly mayReadWorldReadableSecrets: boolean;
  /** Absolute. Undefined where none is kept. */
  readonly deletionJournal: string | undefined;
  readonly keyPrefix: string;
  readonly keyPrefixesAccepted: readonly string[];
  readonly jwtAlg: SigningAlgorithm;
  readonly accessTokenTtlSeconds: number;
  readonly refreshIdleTtlSeconds: number;
  readonly refreshMaxTtlSeconds: number;
  readonly refreshGraceSeconds: number;
  readonly passwordLengthMin: number;
  readonly keysPerAccountMax: number;
  readonly sessionsPerAccountMax: number;
  readonly creationsPerMinuteMax: number;
  readonly loginAddressLimits: readonly IpRangeLimit[];
  readonly isThrottled: boolean;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly isSignUpOpen: boolean;
  /** Undefined where no mail is sent. */
  readonly smtpUrl: string | undefined;
  /** A mailbox as RFC 5322 writes it. */
  readonly mailFrom: string | undefined;
  readonly mailTemplates: string | undefined;
  /** Without a slash at its end. Undefined for the service’s own pages. */
  readonly linksUrl: string | undefined;
  readonly language: Language;
  readonly signInUrl: string | undefined;
  /** Beside public addresses. */
  readonly webhookTargets: readonly WebhookTarget[];
  readonly workers: number;
  readonly drainSeconds: number;
  readonly logLevel: LogLevel;
}

/** What is wrong with the configuration, all of it. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The configuration is wrong:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

/** The environment of the process. Nothing else reads it. */
export const processEnvironment = (): Environment => process.env;

/** @throws ConfigError with every mistake there is */
export function readConfig(environment: Environment, { isTerminal = false } = {}): Config {
  const mistakes: string[] = unknownNames(environment);
  const read = <N extends Name>(name: N): Value<N> => {
    const { default: fallback, parse, isSecret } = variables[name] as Variable<Value<N>>;
    try {
      return parse(textOf(environment, name, isSecret === true) ?? fallback);
    } catch (error) {
      mistakes.push(`${name} ${error instanceof Error ? error.message : String(error)}`);
      return parse(fallback);
    }
  };
  const drainSeconds = read('KEYREEVE_DRAIN_SECONDS');
  const given: Config = {
    host: read('KEYREEVE_HOST'),
    port: read('KEYREEVE_PORT'),
    adminHost: read('KEYREEVE_ADMIN_HOST'),
    adminPort: read('KEYREEVE_ADMIN_PORT'),
    publicUrl: read('KEYREEVE_PUBLIC_URL') || undefined,
    audience: read('KEYREEVE_AUDIENCE') || undefined,
    database: read('KEYREEVE_DATABASE_URL'),
    masterKey: read('KEYREEVE_MASTER_KEY'),
    mayReadWorldReadableSecrets: read('KEYREEVE_WORLD_READABLE_SECRETS') === 'accept',
    deletionJournal: read('KEYREEVE_DELETION_JOURNAL'),
    keyPrefix: read('KEYREEVE_KEY_PREFIX'),
    keyPrefixesAccepted: read('KEYREEVE_KEY_PREFIXES_ACCEPTED'),
    jwtAlg: read('KEYREEVE_JWT_ALG'),
    accessTokenTtlSeconds: read('KEYREEVE_ACCESS_TOKEN_TTL_SECONDS'),
    refreshIdleTtlSeconds: read('KEYREEVE_REFRESH_IDLE_TTL_SECONDS'),
    refreshMaxTtlSeconds: read('KEYREEVE_REFRESH_MAX_TTL_SECONDS'),
    refreshGraceSeconds: read('KEYREEVE_REFRESH_GRACE_SECONDS'),
    passwordLengthMin: read('KEYREEVE_PASSWORD_LENGTH_MIN'),
    keysPerAccountMax: read('KEYREEVE_KEYS_PER_ACCOUNT_MAX'),
    sessionsPerAccountMax: read('KEYREEVE_SESSIONS_PER_ACCOUNT_MAX'),
    creationsPerMinuteMax: read('KEYREEVE_CREATIONS_PER_MINUTE_MAX'),
    loginAddressLimits: read('KEYREEVE_LOGIN_ADDRESS_LIMITS'),
    isThrottled: read('KEYREEVE_THROTTLE') === 'on',
    trustedProxies: read('KEYREEVE_TRUSTED_PROXIES'),
    corsOrigins: read('KEYREEVE_CORS_ORIGINS'),
    isSignUpOpen: read('KEYREEVE_SIGNUP') === 'open',
    smtpUrl: read('KEYREEVE_SMTP_URL') || undefined,
    mailFrom: read('KEYREEVE_MAIL_FROM') || undefined,
    mailTemplates: read('KEYREEVE_MAIL_TEMPLATES'),
    linksUrl: read('KEYREEVE_LINKS_URL') || undefined,
    language: read('KEYREEVE_LANGUAGE'),
    signInUrl: read('KEYREEVE_SIGN_IN_URL') || undefined,
    webhookTargets: read('KEYREEVE_WEBHOOK_TARGETS'),
    workers: read('KEYREEVE_WORKERS'),
    drainSeconds: isTerminal && environment['KEYREEVE_DRAIN_SECONDS'] === undefined ? 0 : drainSeconds,
    logLevel: read('KEYREEVE_LOG_LEVEL'),
  };
  const config = { ...given, deletionJournal: given.deletionJournal ?? deletionJournalBeside(given.database) };
  mistakes.push(...contradictions(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

/** Where an embedded database has its journal of deletions unless it is told otherwise. */
const deletionJournalBeside = (database: DatabaseLocation): string | undefined =>
  database.kind === 'sqlite' ? `${database.path}.deletions` : undefined;

/** What is right by itself and wrong together. */
function contradictions(config: Config): string[] {
  const { host, adminHost, publicUrl: url, trustedProxies, isThrottled } = config;
  const mistakes: string[] = [];
  const isPublic = !isLoopback(host) || !isLoopback(adminHost);
  if (isPublic && !url?.startsWith('https:') && trustedProxies.length === 0) {
    mistakes.push(
      'KEYREEVE_HOST or KEYREEVE_ADMIN_HOST is a public address, but Keyreeve ends no TLS: name the proxy in front in KEYREEVE_TRUSTED_PROXIES, and set KEYREEVE_PUBLIC_URL to its https address',
    );
  }
  if (config.database.kind === 'postgres' && config.masterKey === undefined) {
    mistakes.push('KEYREEVE_MASTER_KEY must be set: with PostgreSQL all instances need the same one');
  }
  if (isPublic && !isThrottled) mistakes.push('KEYREEVE_THROTTLE can be off on a loopback address only');
  if (config.refreshMaxTtlSeconds < config.refreshIdleTtlSeconds) {
    mistakes.push('KEYREEVE_REFRESH_MAX_TTL_SECONDS must be at least KEYREEVE_REFRESH_IDLE_TTL_SECONDS');
  }
  if ((config.smtpUrl === undefined) !== (config.mailFrom === undefined)) {
    mistakes.push('KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM must both be set, or neither');
  }
  if (config.isSignUpOpen && config.smtpUrl === undefined) {
    mistakes.push('KEYREEVE_SIGNUP can be open only with KEYREEVE_SMTP_URL: an email is verified by mail');
  }
  if (config.port !== 0 && config.port === config.adminPort && host === adminHost) {
    mistakes.push('KEYREEVE_PORT and KEYREEVE_ADMIN_PORT are the same');
  }
  return mistakes;
}

/** A misspelt name would leave a default in force that the operator thinks was changed. */
function unknownNames(environment: Environment): string[] {
  const known = new Set<string>(
    Object.entries(variables).flatMap(([name, { isSecret }]) => (isSecret ? [name, `${name}_FILE`] : [name])),
  );
  // Container platforms set these for a service called "keyreeve"; they are nobody's configuration.
  const isServiceLink = (name: string): boolean => /^KEYREEVE_(?:SERVICE_|PORT_\d+_|ENV_|NAME$)/.test(name);
  return Object.keys(environment)
    .filter((name) => name.startsWith('KEYREEVE_') && !known.has(name) && !isServiceLink(name))
    .map((name) => `${name} is not a variable that Keyreeve knows`);
}

function textOf(environment: Environment, name: string, isSecret: boolean): string | undefined {
  const text = environment[name];
  const file = isSecret ? environment[`${name}_FILE`] : undefined;
  if (file === undefined || file === '') return text === '' ? undefined : text;
  if (text !== undefined && text !== '') throw new Error(`and ${name}_FILE are both set`);
  const mayBeWorldReadable = environment['KEYREEVE_WORLD_READABLE_SECRETS'] === 'accept';
  const secret = readSecretFile(file, `is in the file ${file}, which`, { mayBeWorldReadable });
  // A secret that was never put there is not a wish for the default.
  if (secret === '') throw new Error(`is in the file ${file}, which is empty`);
  return secret;
}

export interface DescribedVariable {
  readonly name: string;
  /** `[redacted]` for a secret. */
  readonly value: string;
  readonly source: 'environment' | 'default';
}

/** Every variable as it is in force, for people. */
export function describeConfig(environment: Environment): DescribedVariable[] {
  return Object.entries(variables).map(([name, { default: fallback, isSecret }]) => {
    const text = environment[name] || (isSecret ? environment[`${name}_FILE`] : '') || '';
    const value = text === '' ? fallback : isSecret ? describeSecret(name, environment) : text;
    return { name, value, source: text === '' ? 'default' : 'environment' };
  });
}

/** Of the database's address only the password is one. */
function describeSecret(name: string, environment: Environment): string {
  if (name !== 'KEYREEVE_DATABASE_URL') return '[redacted]';
  try {
    const text = textOf(environment, name, true) ?? '';
    return text.startsWith('sqlite:') ? text : describeDatabase(databaseUrl(text));
  } catch {
    return '[redacted]';
  }
}
