/** The file that shows which account here an account of another system has become: JSON Lines. */
import { createReadStream, existsSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { limits } from '@keyreeve/contract';
import { linesOf } from '../foundation/lines.ts';
import type { MappedAccount } from '../modules/import/accounts.ts';
import { UsageError } from './failure.ts';

/** Only the user can read it: it has email addresses. */
const mode = 0o600;

export class AccountMap {
  readonly #path: string;
  #file: FileHandle | undefined;

  /** The file is created with its first line, so that an import that does not begin leaves none. @throws UsageError for a path that exists */
  constructor(path: string) {
    if (existsSync(path)) throw existing(path);
    this.#path = path;
  }

  /** @throws UsageError for a path that exists */
  async add(accounts: readonly MappedAccount[]): Promise<void> {
    const lines = accounts.map(({ oldId, email, id }) => `${JSON.stringify({ oldId, email, id })}\n`);
    this.#file ??= await open(this.#path, 'wx', mode).catch((error: unknown) => {
      throw error instanceof Error && 'code' in error && error.code === 'EEXIST' ? existing(this.#path) : error;
    });
    await this.#file.appendFile(lines.join(''));
  }

  async close(): Promise<void> {
    await this.#file?.sync();
    await this.#file?.close();
  }
}

const existing = (path: string): UsageError =>
  new UsageError(`${path} exists already, and --map never replaces a file`);

/** @returns ids of accounts here by their ids in the other system @throws UsageError for another file */
export async function readAccountMap(path: string): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for await (const { number, bytes } of linesOf(createReadStream(path), limits.importLineBytesMax)) {
    const { oldId, id } = parse(bytes ?? Buffer.of());
    if (typeof id !== 'string' || (typeof oldId !== 'string' && oldId !== null))
      throw new UsageError(`line ${number} of ${path} is not one that --map writes`);
    if (typeof oldId === 'string') ids.set(oldId, id);
  }
  return ids;
}

function parse(bytes: Buffer): { readonly oldId?: unknown; readonly id?: unknown } {
  try {
    return (JSON.parse(bytes.toString('utf8')) ?? {}) as object;
  } catch {
    return {};
  }
}
