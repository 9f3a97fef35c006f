/**
 * Reads the settings from the environment; no other file reads it. All errors are reported together, so that an operator
 * corrects them in one pass.
 */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isIgnored } from './ignored-names.ts';
import { mailMistakes } from './mail-config.ts';
import type { Environment, Setting } from './setting.ts';
import { settings } from './settings.ts';
import { settingsFileName, withSettingsFile } from './settings-file.ts';
import { singleSignOnMistakes } from './single-sign-on-config.ts';
import type { DatabaseLocation } from '../../foundation/database/database.ts';
import { isVerified } from '../../foundation/database/postgres-url.ts';
import { isLoopback } from '../../foundation/ip-address.ts';
import { isUsable } from '../../modules/passkeys/relying-party.ts';
import { readSecretFile } from '../../foundation/secret-file.ts';

export type { Environment };

/** The settings in force. A value is undefined if its setting is empty and has no default. */
export type Config = { readonly [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['parse']> };

/** All errors of the configuration. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The configuration has errors:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

let settingsFile: string | undefined;
/** As read first, so that all parts and processes of a service have the same settings. */
let withFile: { readonly path: string; readonly environment: Environment } | undefined;

/** @param path of the option `--env-file`; undefined: that of `KEYREEVE_SETTINGS_FILE`, if any */
export function useSettingsFile(path: string | undefined): void {
  settingsFile = path;
  withFile = undefined;
}

/** The environment, with the settings file if there is one. @throws ConfigError if the file is rejected */
export function processEnvironment(): Environment {
  const path = settingsFile ?? process.env[settingsFileName];
  if (!path) return process.env;
  if (withFile?.path === path) return withFile.environment;
  try {
    withFile = { path, environment: withSettingsFile(path, process.env) };
    return withFile.environment;
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}

/** For `keyreeve prove-revocation --url`, which reads no setting. It is no setting of the service. */
export const canaryCredential = (): string | undefined => process.env['KEYREEVE_CANARY_CREDENTIAL'];

/** The folder for the sessions of `keyreeve --url`: of the XDG Base Directory Specification, or the one of the platform. */
export function stateFolder(): string {
  const { XDG_STATE_HOME: home = '', LOCALAPPDATA: local } = process.env;
  // The specification ignores a relative path.
  if (isAbsolute(home)) return join(home, 'keyreeve');
  if (process.platform === 'win32') return join(local ?? join(homedir(), 'AppData', 'Local'), 'keyreeve');
  const platform = process.platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return join(homedir(), ...platform, 'keyreeve');
}

/** @throws ConfigError */
export function readConfig(environment: Environment, { isTerminal = false } = {}): Config {
  const mistakes = unknownNames(environment);
  const read = (setting: Setting<unknown>): unknown => {
    const { name, parse, terminalDefault } = setting;
    const fallback = (isTerminal ? terminalDefault : undefined) ?? setting.default;
    try {
      return parse(textOf(environment, setting) ?? fallback);
    } catch (error) {
      mistakes.push(`${name} ${error instanceof Error ? error.message : String(error)}`);
      // With the default, the checks below still run on the other settings.
      return parse(fallback);
    }
  };
  const values = Object.fromEntries(Object.entries(settings).map(([key, setting]) => [key, read(setting)])) as Config;
  const config = { ...values, deletionJournal: values.deletionJournal ?? defaultDeletionJournal(values.database) };
  mistakes.push(...contradictions(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

const defaultDeletionJournal = (database: DatabaseLocation): string | undefined =>
  database.kind === 'sqlite' ? `${database.path}.deletions` : undefined;

/** Values that are each valid and cannot be combined. */
function contradictions(config: Config): string[] {
  const { host, adminHost, verifyHost = host, verifyPort, publicUrl: url, trustedProxies, isRateLimited } = config;
  const mistakes: string[] = [];
  const isPublic = !isLoopback(host) || !isLoopback(adminHost) || (verifyPort !== undefined && !isLoopback(verifyHost));
  if (isPublic && !url?.startsWith('https:') && trustedProxies.length === 0) {
    mistakes.push(
      'KEYREEVE_HOST, KEYREEVE_ADMIN_HOST or KEYREEVE_VERIFY_HOST is not a loopback address, but Keyreeve does not terminate TLS: set KEYREEVE_TRUSTED_PROXIES to the proxy in front of it, and KEYREEVE_PUBLIC_URL to the proxy’s https URL',
    );
  }
  const further = config.environments.slice(1).map(({ prefix }) => prefix);
  const ofFirst = [config.keyPrefix, ...config.keyPrefixesAccepted];
  for (const prefix of further.filter((known) => ofFirst.includes(known)))
    mistakes.push(
      `KEYREEVE_ENVIRONMENTS gives the prefix ${prefix} to a further environment, but KEYREEVE_KEY_PREFIX and KEYREEVE_KEY_PREFIXES_ACCEPTED belong to the first one: choose another prefix`,
    );
  if (config.forwardEnvironments === 'any' && config.environments.length === 0)
    mistakes.push('KEYREEVE_FORWARD_ENVIRONMENTS can be any only with KEYREEVE_ENVIRONMENTS');
  if (config.database.kind === 'postgres' && config.masterKey === undefined) {
    mistakes.push('KEYREEVE_MASTER_KEY must be set for PostgreSQL: all instances need the same key');
  }
  if (isPublic && !isRateLimited) mistakes.push('KEYREEVE_THROTTLE can be off on a loopback address only');
  if (config.databaseCa !== undefined && !(config.database.kind === 'postgres' && isVerified(config.database)))
    mistakes.push(
      'KEYREEVE_DATABASE_CA can be set only with PostgreSQL, and the sslmode verify-full or verify-ca in KEYREEVE_DATABASE_URL',
    );
  if (config.database.kind === 'sqlite' && config.databaseFailover === 'unfenced')
    mistakes.push('KEYREEVE_DATABASE_FAILOVER can be unfenced only with PostgreSQL');
  if (config.refreshMaxTtlSeconds < config.refreshIdleTtlSeconds) {
    mistakes.push('KEYREEVE_REFRESH_MAX_TTL_SECONDS must be at least KEYREEVE_REFRESH_IDLE_TTL_SECONDS');
  }
  if (config.apiExample !== undefined && config.apiUrl === undefined)
    mistakes.push('KEYREEVE_API_EXAMPLE can be set only with KEYREEVE_API_URL');
  mistakes.push(...mailMistakes(config));
  const consoleUrl = config.consoleUrl ?? url ?? 'http://localhost';
  if (config.passkeyRpId !== undefined && !isUsable(consoleUrl, config.passkeyRpId)) {
    mistakes.push(
      `KEYREEVE_PASSKEY_RP_ID must be the host of ${consoleUrl} or a domain that it is in, and passkeys need https except on localhost`,
    );
  }
  mistakes.push(...singleSignOnMistakes(config), ...verifyMistakes(config));
  if (config.port !== 0 && config.port === config.adminPort && host === adminHost) {
    mistakes.push('KEYREEVE_PORT and KEYREEVE_ADMIN_PORT are the same');
  }
  return mistakes;
}

/** Those of the listener that only verifies. */
function verifyMistakes(config: Config): string[] {
  const {
    host,
    port,
    adminHost,
    adminPort,
    verifyHost = host,
    verifyPort,
    verifySocket,
    isPublicPortVerifying,
  } = config;
  const mistakes: string[] = [];
  if (verifyPort !== undefined && verifySocket !== undefined)
    mistakes.push('KEYREEVE_VERIFY_PORT and KEYREEVE_VERIFY_SOCKET are both set: choose one');
  if (verifyPort === undefined && verifySocket === undefined && !isPublicPortVerifying)
    mistakes.push('KEYREEVE_PUBLIC_PORT_VERIFIES can be off only with KEYREEVE_VERIFY_PORT or KEYREEVE_VERIFY_SOCKET');
  if (verifySocket !== undefined && process.platform === 'win32')
    mistakes.push('KEYREEVE_VERIFY_SOCKET does not exist on Windows: set KEYREEVE_VERIFY_PORT');
  const others = [
    ['KEYREEVE_PORT', host, port],
    ['KEYREEVE_ADMIN_PORT', adminHost, adminPort],
  ] as const;
  for (const [name, otherHost, otherPort] of others)
    if (verifyPort === otherPort && otherPort !== 0 && verifyHost === otherHost)
      mistakes.push(`KEYREEVE_VERIFY_PORT and ${name} are the same`);
  return mistakes;
}

/** Unknown names are errors: with a misspelt name, the default would stay in force unnoticed. */
function unknownNames(environment: Environment): string[] {
  const known = new Set(
    Object.values<Setting<unknown>>(settings).flatMap(({ name, isSecret }) =>
      isSecret ? [name, `${name}_FILE`] : [name],
    ),
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith('KEYREEVE_') && !known.has(name) && !isIgnored(name) && name !== settingsFileName)
    .map((name) => `${name} is not a setting of Keyreeve`);
}

/** @returns undefined if the setting is not set or empty @throws Error if its file cannot be read */
function textOf(environment: Environment, { name, isSecret }: Setting<unknown>): string | undefined {
  const text = environment[name] || undefined;
  const file = isSecret ? environment[`${name}_FILE`] : undefined;
  if (!file) return text;
  if (text !== undefined) throw new Error(`and ${name}_FILE are both set`);
  const mayBeWorldReadable = environment[settings.mayReadWorldReadableSecrets.name] === 'accept';
  const secret = readSecretFile(file, `is in the file ${file}, which`, { mayBeWorldReadable });
  // An empty file is a secret that was not written, not a request for the default.
  if (secret === '') throw new Error(`is in the file ${file}, which is empty`);
  return secret;
}

/**
 * The value of a secret as its file has it now, so that a new one applies without a restart. A file that can't be read or has an
 * invalid value leaves the last one in force. Not for the master key, which `keyreeve master-key rotate` replaces.
 */
export function latestSecret<Key extends 'database' | 'smtpUrl' | 'smtpOauthClientSecret' | 'ssoClientSecret'>(
  config: Config,
  key: Key,
  environment: Environment,
): () => Config[Key] {
  const setting = settings[key] as unknown as Setting<Config[Key]>;
  let latest = config[key];
  // A setting of the environment does not change.
  if (!environment[`${setting.name}_FILE`]) return () => latest;
  return () => {
    try {
      const text = textOf(environment, setting);
      if (text !== undefined) latest = setting.parse(text);
    } catch {
      // `keyreeve doctor` reports the reason.
    }
    return latest;
  };
}

export interface DescribedSetting {
  readonly name: string;
  /** `[redacted]` for a secret. */
  readonly value: string;
  /** `file`: the variable with `_FILE` at its end names a file with the value. */
  readonly source: 'environment' | 'file' | 'default';
}

/** All settings in force, without secrets. */
export const describeConfig = (environment: Environment): DescribedSetting[] =>
  Object.values<Setting<unknown>>(settings).map((setting) => {
    const { name, isSecret } = setting;
    const source = environment[name] ? 'environment' : isSecret && environment[`${name}_FILE`] ? 'file' : 'default';
    return { name, value: source === 'default' ? setting.default : describeValue(environment, setting), source };
  });

/** Shown instead of a secret. */
export const redacted = '[redacted]';

function describeValue(environment: Environment, setting: Setting<unknown>): string {
  if (!setting.isSecret) return withoutPasswords(environment[setting.name] ?? '');
  try {
    return setting.describe?.(textOf(environment, setting) ?? '') ?? redacted;
  } catch {
    return redacted;
  }
}

/** No setting that is not a secret accepts a URL with a user, except as other text, such as an audience. */
const withoutPasswords = (text: string): string => text.replaceAll(/(:\/\/)[^/\s,]*@/g, `$1${redacted}@`);
