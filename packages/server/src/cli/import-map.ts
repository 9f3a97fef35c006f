/** The file that shows which account here an account of another system has become: JSON Lines. */
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { limits } from '@keyreeve/contract';
import { linesOf } from '../foundation/lines.ts';
import type { MappedAccount } from '../modules/import/accounts.ts';
import { UsageError } from './failure.ts';

/** Only the user can read it: it has email addresses. */
const mode = 0o600;

export class AccountMap {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws UsageError for a path that exists */
  static async create(path: string): Promise<AccountMap> {
    try {
      return new AccountMap(await open(path, 'wx', mode));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      throw new UsageError(`${path} exists already, and --map never replaces a file`);
    }
  }

  async add(accounts: readonly MappedAccount[]): Promise<void> {
    const lines = accounts.map(({ oldId, email, id }) => `${JSON.stringify({ oldId, email, id })}\n`);
    await this.#file.appendFile(lines.join(''));
  }

  async close(): Promise<void> {
    await this.#file.sync();
    await this.#file.close();
  }
}

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
