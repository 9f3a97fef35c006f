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

/** Its bytes, or records of JSON Lines, each as a value or as it stands in the file. */
export type TestFile = Uint8Array | readonly (object | string | Uint8Array)[];

const lineOf = (record: object | string | Uint8Array): Uint8Array =>
  record instanceof Uint8Array ? record : Buffer.from(typeof record === 'string' ? record : JSON.stringify(record));

export async function run<Item>(
  importer: Importer<Item>,
  file: TestFile,
  { records, chunkBytes = 1_000 }: RunOptions = {},
): Promise<Report> {
  const bytes =
    file instanceof Uint8Array ? file : Buffer.concat(file.flatMap((each) => [lineOf(each), Buffer.from('\n')]));
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

/** The report of an import of one line that does nothing, except for `more`. */
export const counted = (more: Partial<Report>): Report => ({
  lines: 1,
  imported: 0,
  updated: 0,
  existing: 0,
  changed: 0,
  refused: 0,
  refusedLines: {},
  warnings: [],
  ...more,
});

export const importAccounts = (
  db: Db,
  file: TestFile,
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
  file: TestFile,
  more: Partial<KeyImportOptions> & RunOptions = {},
): Promise<Report> =>
  run(
    keyImporter(operator, { db, clock, keyHash: keys.apiKeyHash, keysPerAccountMax: 5, isDryRun: false, ...more }),
    file,
    more,
  );
