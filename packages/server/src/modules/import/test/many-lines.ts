/** A file with many lines, and its import. */
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { keys, operator } from '../../../../test-kit/rows.ts';
import { accountImporter } from '../accounts.ts';
import { runImport, type ImportResult } from '../run-import.ts';

const hasher = new PasswordHasher(keys.passwordPeppers);
const bcrypt = '$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';
/** In each thousand lines, one is invalid and one repeats an email address. */
const lineOf = (index: number): string => {
  if (index % 1_000 === 500) return '{"email":"invalid"}\n';
  const number = index % 1_000 === 501 ? index - 2 : index;
  const hash = index % 4 === 0 ? { passwordHash: bcrypt } : {};
  return `${JSON.stringify({ email: `user${number}@example.com`, ...hash })}\n`;
};
const linesPerChunk = 400;

export async function* linesOf(lines: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < lines; at += linesPerChunk) {
    yield Buffer.from(Array.from({ length: Math.min(linesPerChunk, lines - at) }, (_, i) => lineOf(at + i)).join(''));
  }
}

export async function importFrom(
  db: Db,
  source: AsyncIterable<Uint8Array>,
  isDryRun: boolean,
  onProgress?: (at: number) => void,
) {
  const reasons = new Set<string>();
  const importer = accountImporter(operator, {
    db,
    clock: new FakeClock(),
    revocations: undefined,
    hasher,
    isDryRun,
    onExisting: 'skip',
  });
  const counts: ImportResult = await runImport(source, importer, {
    refused: async ({ reason }) => void reasons.add(reason.replace(/\d+/, 'n')),
    progress: ({ lines }) => onProgress?.(lines),
  });
  return { counts, reasons };
}
