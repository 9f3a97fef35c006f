/**
 * Files of master keys: reading, creation, and the rotation of the file beside an SQLite database. Each step of a rotation
 * leaves a file in place that opens the installation, because both master keys open it during the rotation.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chown, link, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError, type Config } from './config.ts';
import { masterKey } from './config-values.ts';
import { markAsNew, masterKeyPath } from './earlier-installation.ts';
import { createComplete, FileExistsError } from '../foundation/complete-file.ts';
import { masterKeyBytes } from '../foundation/crypto/master-key.ts';
import { masterKeyIdOf } from '../foundation/crypto/root-key.ts';
import { syncFolder } from '../foundation/database/sync-folder.ts';
import { readSecretFile } from '../foundation/secret-file.ts';

/** @throws ConfigError if others can read or change the file, or if it does not contain a master key */
export function readMasterKey(path: string, { mayReadWorldReadableSecrets: mayBeWorldReadable }: Config): Buffer {
  let text: string;
  try {
    text = readSecretFile(path, `the master key ${path}`, { mayBeWorldReadable });
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
  const key = /^[A-Za-z0-9_-]{43}$/.test(text) ? masterKey(text) : undefined;
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

const newMasterKeyText = (): string => `${randomBytes(masterKeyBytes).toString('base64url')}\n`;

/** @throws FileExistsError, Error of the file system */
export const generateMasterKey = (path: string): Promise<void> =>
  createComplete(path, (draft) => writeFile(draft, newMasterKeyText(), { flag: 'wx', mode: 0o600, flush: true }));

/** The master key file beside an SQLite database; undefined if the configuration contains the master key. */
export const fileBeside = ({ database, masterKey: given }: Config): string | undefined =>
  database.kind === 'sqlite' && !given ? masterKeyPath(database.path) : undefined;

/** The generated file that takes the place of the master key file. */
const nextOf = (path: string): string => `${path}.next`;
/** A master key file that another one has replaced, until the rotation is over. */
export const keptOf = (path: string, masterKeyId: string): string => `${path}.${masterKeyId}`;

/**
 * @param masterKeyId of the new master key, if an interrupted call has added it
 * @returns the path of the file that takes the place of the master key file. An interrupted call may have created it
 */
export async function ensureNext(path: string, masterKeyId: string | undefined): Promise<string> {
  if (masterKeyId !== undefined && existsSync(keptOf(path, masterKeyId))) return keptOf(path, masterKeyId);
  try {
    await generateMasterKey(nextOf(path));
    await giveToOwnerOf(path, nextOf(path));
  } catch (error) {
    if (!(error instanceof FileExistsError)) throw error;
  }
  return nextOf(path);
}

/**
 * Puts a file in the place of the master key file, which is kept under another name. Of two calls at the same time, one
 * succeeds, and no master key is lost, because the other name contains the id of its master key.
 */
export async function putInPlace(path: string, file: string, config: Config): Promise<void> {
  const id = idOfFile(path, config);
  const newId = idOfFile(file, config);
  if (id === undefined || newId === undefined || id === newId) return;
  await link(path, keptOf(path, id)).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  await rename(file, path);
  await syncFolder(dirname(path));
}

/**
 * Removes kept files of master keys that no longer open the installation, and drafts of killed commands.
 * @param current id of the master key that opens it
 */
export async function removeKept(path: string, current: string, config: Config): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const file = join(dirname(path), name);
    const isKept = /^[0-9a-f]{16}$/.test(rest) && rest !== current && idOfFile(file, config) === rest;
    if (isKept || /^next\.[0-9a-f]{16}\.partial$/.test(rest)) await rm(file);
  }
}

/** @returns the id of the master key in the file; undefined without the file @throws ConfigError */
const idOfFile = (path: string, config: Config): string | undefined =>
  existsSync(path) ? masterKeyIdOf(readMasterKey(path, config)) : undefined;

/** Makes a file that root creates with a command readable to the service. */
async function giveToOwnerOf(path: string, created: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(path);
  await chown(created, uid, gid);
}
