/** Files of master keys: reading and creation. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError, type Config } from '../configuration/config.ts';
import { masterKey } from '../configuration/config-values.ts';
import { markAsNew, masterKeyPath } from '../installation/earlier-installation.ts';
import { createComplete } from '../../foundation/complete-file.ts';
import { masterKeyBytes } from '../../foundation/crypto/master-key.ts';
import { readSecretFile } from '../../foundation/secret-file.ts';

/** @throws ConfigError if others can read or change the file, or if it does not contain a master key */
export function readMasterKey(path: string, { mayReadWorldReadableSecrets: mayBeWorldReadable }: Config): Buffer {
  let text: string;
  try {
    text = readSecretFile(path, `the master key ${path}`, { mayBeWorldReadable });
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
  // `basenc` pads the text with `=`.
  const key = /^[A-Za-z0-9_-]{43}=?$/.test(text) ? masterKey(text) : undefined;
  if (!key) throw new ConfigError([`the master key ${path} is damaged: expected 43 characters of base64url`]);
  return key;
}

/** Links a complete draft to the path: of two processes that start at the same time, one creates the file and both read it. */
export async function createMasterKey(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await markAsNew(path);
  // A random suffix: in a container, the process has the same id at each start.
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const text = newMasterKeyText();
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export const newMasterKeyText = (): string => `${randomBytes(masterKeyBytes).toString('base64url')}\n`;

/** @throws FileExistsError, Error of the file system */
export const generateMasterKey = (path: string): Promise<void> =>
  createComplete(path, (draft) => writeFile(draft, newMasterKeyText(), { flag: 'wx', mode: 0o600, flush: true }));

/** The master key file beside an SQLite database; undefined if the configuration contains the master key. */
export const fileBeside = ({ database, masterKey: given }: Config): string | undefined =>
  database.kind === 'sqlite' && !given ? masterKeyPath(database.path) : undefined;
