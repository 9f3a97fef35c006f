/**
 * The settings file: environment variables in a file that the operator names, in the format of `.env` files. A file that only lies in
 * the working folder is never read: another user could have put it there. Variables of the environment win.
 */
import { parseEnv } from 'node:util';
import { readSecretFile } from '../../foundation/secret-file.ts';
import type { Environment, Setting } from './setting.ts';
import { settings } from './settings.ts';

export const settingsFileName = 'KEYREEVE_SETTINGS_FILE';

/**
 * @returns the environment with the variables `KEYREEVE_…` of the file, without {@link settingsFileName}
 * @throws Error if the file cannot be read, others can change it, it has a secret and others can read it, it names another file, or a line has no `=`
 */
export function withSettingsFile(path: string, environment: Environment): Environment {
  const { [settingsFileName]: _, ...own } = environment;
  const text = readSecretFile(path, `the settings file ${path}`, { mayBeWorldReadable: true, mustBeOwn: true });
  const incomplete = text.split('\n').findIndex((line) => /^\s*KEYREEVE_/.test(line) && !line.includes('='));
  if (incomplete >= 0) throw new Error(`the settings file ${path} has no “=” in line ${incomplete + 1}`);
  const found = Object.entries(parseEnv(text)).filter(([name]) => name.startsWith('KEYREEVE_'));
  if (found.some(([name]) => name === settingsFileName))
    throw new Error(`the settings file ${path} must not name another one in ${settingsFileName}`);
  const secret = found.find(([name, value = '']) => isSecret(name, value))?.[0];
  const all = { ...Object.fromEntries(found), ...own };
  if (secret !== undefined && all[settings.mayReadWorldReadableSecrets.name] !== 'accept')
    readSecretFile(path, `the settings file ${path} has a value of ${secret} and`, { mayBeWorldReadable: false });
  return { ...Object.fromEntries(found.filter(([name]) => !own[otherFormOf(name)])), ...own };
}

/** An SQLite database URL and an empty value are no secrets. */
function isSecret(name: string, value: string): boolean {
  const found = Object.values<Setting<unknown>>(settings).find((setting) => setting.name === name);
  if (!found?.isSecret || value === '') return false;
  try {
    return found.describe?.(value) !== value;
  } catch {
    return true;
  }
}

/** Of a secret: as a value, and as the path of a file. The environment can have one form and the file the other. */
const otherFormOf = (name: string): string =>
  name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`;
