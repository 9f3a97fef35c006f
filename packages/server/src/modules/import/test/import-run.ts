/** Imports records in tests, as the command line does. */
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { accountImporter, type AccountImportOptions } from '../accounts.ts';
import { keyImporter, type KeyImportOptions } from '../api-keys.ts';
import type { Records } from '../records.ts';
import { runImport, type Importer, type ImportResult } from '../run-import.ts';

export const clock = new FakeClock(now);
export const hasher = new PasswordHasher(keys.passwordPeppers, { memoryKib: 64, passes: 1, lanes: 1 });

export interface Report extends Omit<ImportResult, 'traits'> {
  /** The reason of each rejected line, by its number. */
  readonly refusedLines: Readonly<Record<number, string>>;
}

export interface RunOptions {
  readonly records?: Records;
  /** Bytes in one chunk of the file. */
  readonly chunkBytes?: number;
}

/** @param file its bytes, or records of JSON Lines */
export async function run<Item>(
  importer: Importer<Item>,
  file: Uint8Array | readonly object[],
  { records, chunkBytes = 1_000 }: RunOptions = {},
): Promise<Report> {
  const bytes =
    file instanceof Uint8Array ? file : Buffer.from(file.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
  const refusedLines: Record<number, string> = {};
  const listener = {
    refused: async ({ line, reason }: { line: number; reason: string }) => void (refusedLines[line] = reason),
    progress: () => undefined,
  };
  const { traits: _, ...result } = await runImport(source(), importer, listener, records);
  return { ...result, refusedLines };
}

export const importAccounts = (
  db: Db,
  file: Uint8Array | readonly object[],
  more: Partial<AccountImportOptions> & RunOptions = {},
): Promise<Report> =>
  run(
    accountImporter(operator, {
      db,
      clock,
      revocations: undefined,
      hasher,
      factorSeal: keys.secondFactorSeal,
      isDryRun: false,
      onExisting: 'skip',
      ...more,
    }),
    file,
    more,
  );

export const importKeys = (
  db: Db,
  file: Uint8Array | readonly object[],
  more: Partial<KeyImportOptions> & RunOptions = {},
): Promise<Report> =>
  run(
    keyImporter(operator, { db, clock, keyHash: keys.apiKeyHash, keysPerAccountMax: 5, isDryRun: false, ...more }),
    file,
    more,
  );
