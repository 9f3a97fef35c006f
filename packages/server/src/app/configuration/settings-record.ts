/**
 * What an instance records of its settings in the database, so that `keyreeve doctor` finds those that differ: for each setting with
 * another text than its default, a keyed hash. The master key has a check of its own. Secrets in files have no hash, because the
 * service reads such a file again.
 */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Environment, Setting } from './setting.ts';
import { settings } from './settings.ts';

/** Name → hash; the hash is empty for a secret in a file. */
export type SettingsRecord = Readonly<Record<string, string>>;

/** Of 256 bits; a difference must be found, and none may be read back. */
const hashBytes = 9;

export const settingsRecord = (environment: Environment, hash: Pick<KeyedHash, 'mac'>): SettingsRecord =>
  Object.fromEntries(
    recorded.flatMap(({ name, isSecret, default: fallback }) => {
      if (isSecret && environment[`${name}_FILE`]) return [[name, '']];
      const text = environment[name] || fallback;
      if (text === fallback) return [];
      return [[name, hash.mac(`${name}\0${text}`).toString('base64url', 0, hashBytes)]];
    }),
  );

const recorded = Object.values<Setting<unknown>>(settings).filter(({ name }) => name !== settings.masterKey.name);

/** @returns the names of settings that differ, in the order of the reference */
export const differingSettings = (one: SettingsRecord, other: SettingsRecord): readonly string[] =>
  recorded
    .map(({ name }) => name)
    .filter((name) => one[name] !== other[name] && one[name] !== '' && other[name] !== '');

/** Settings that instances on several machines can have for themselves. */
const ofMachine: readonly (keyof typeof settings)[] = [
  'host',
  'port',
  'verifyPort',
  'verifyHost',
  'verifySocket',
  'verifiers',
  'adminHost',
  'adminPort',
  'adminNames',
  'database',
  'databaseCa',
  'mayReadWorldReadableSecrets',
  'deletionJournal',
  'mailTemplates',
  'issuerAuthorities',
  'githubKeys',
  'drainSeconds',
  'traceRatio',
  'logLevel',
];
const namesOfMachine = new Set<string>(ofMachine.map((key) => settings[key].name));

export const isOfMachine = (name: string): boolean => namesOfMachine.has(name);
