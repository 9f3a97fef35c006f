/**
 * The first start: an installation without an administrator gets a one-time code for the console, in a file beside its SQLite
 * database that only the service's user can read. A file on one machine is of no use for several instances, so with
 * PostgreSQL the operator runs `keyreeve admin bootstrap`.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Config } from '../configuration/config.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import type { Log } from '../../foundation/log.ts';
import { readSecretFile } from '../../foundation/secret-file.ts';
import type { FirstAdministrator } from '../../modules/administration/first-administrator.ts';
import { isOneTimeCode } from '../../modules/one-time-codes/code-format.ts';

export type FirstStart =
  | { readonly kind: 'code'; readonly path: string; readonly code: Secret; readonly expiresAt: number }
  /** The file has no valid code: the operator creates one with `keyreeve admin bootstrap`. */
  | { readonly kind: 'bootstrap' };

type Parts = Pick<FirstAdministrator, 'administratorExists' | 'createOnlyCode' | 'validUntil'>;

/** The file with the code for the first administrator of an SQLite database. */
export const codeFileOf = (databasePath: string): string => `${databasePath}.first-administrator`;

/**
 * Call it when the service listens, in one process of an instance. It never throws: the service runs without the code.
 * @returns undefined if an administrator exists or the console is off
 */
export async function firstStart(
  first: Parts,
  config: Pick<Config, 'hasConsole' | 'database'>,
  log: Pick<Log, 'warn'>,
): Promise<FirstStart | undefined> {
  if (!config.hasConsole) return undefined;
  try {
    if (await first.administratorExists()) {
      deleteCodeFile(config);
      return undefined;
    }
    const { database } = config;
    if (database.kind !== 'sqlite') return { kind: 'bootstrap' };
    const path = codeFileOf(database.path);
    return (await validIn(path, first)) ?? (await createIn(path, first)) ?? { kind: 'bootstrap' };
  } catch (error) {
    log.warn({ event: 'first_administrator_code_failed', err: error });
    return { kind: 'bootstrap' };
  }
}

/** @throws Error if the file has another content than a code, which must not be replaced */
async function validIn(path: string, first: Parts): Promise<FirstStart | undefined> {
  const code = codeIn(path);
  const expiresAt = code && (await first.validUntil(code));
  return code && expiresAt ? { kind: 'code', path, code, expiresAt } : undefined;
}

/**
 * The file gets its name after the commit: until then, it may be that of a process that starts at the same time.
 * @returns undefined if another valid code exists
 */
async function createIn(path: string, first: Parts): Promise<FirstStart | undefined> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  let code: Secret | undefined;
  try {
    const created = await first.createOnlyCode((text) => {
      writeFileSync(draft, `${text.reveal()}\n`, { flag: 'wx', mode: 0o600, flush: true });
      code = text;
    });
    if (!created || !code) return undefined;
    renameSync(draft, path);
    return { kind: 'code', path, code, ...created };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Call it when an administrator exists: then no code is valid. A file with another content, or that cannot be read, is kept. */
export function deleteCodeFile({ database }: Pick<Config, 'database'>): void {
  if (database.kind !== 'sqlite') return;
  const path = codeFileOf(database.path);
  try {
    if (codeIn(path)) rmSync(path, { force: true });
  } catch {
    // The code is void, so a file that remains is harmless.
  }
}

/** Deletes a file whose code has expired or was replaced, so that a new one can have its name. */
export async function deleteVoidCodeFile(path: string, first: Pick<FirstAdministrator, 'validUntil'>): Promise<void> {
  const code = codeIn(path);
  if (code && (await first.validUntil(code)) === undefined) rmSync(path, { force: true });
}

/** @returns undefined if the file does not exist @throws Error if it has another content, or if others can read it */
function codeIn(path: string): Secret | undefined {
  if (!existsSync(path)) return undefined;
  const text = readSecretFile(path, `the file ${path}`, { mayBeWorldReadable: false });
  if (!isOneTimeCode(text)) throw new Error(`the file ${path} contains no one-time code`);
  return new Secret(text);
}
