/** Large imports: memory is bounded, progress is reported, and an interrupted import can be repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limits } from '@keyreeve/contract';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { countRows } from '../../backup/store.ts';
import { accountImporter } from '../accounts.ts';
import { runImport, type ImportCounts } from '../run-import.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, operator } from '../../../../test-kit/rows.ts';

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

async function* file(lines: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < lines; at += linesPerChunk) {
    yield Buffer.from(Array.from({ length: Math.min(linesPerChunk, lines - at) }, (_, i) => lineOf(at + i)).join(''));
  }
}

async function importFrom(
  db: Db,
  source: AsyncIterable<Uint8Array>,
  isDryRun: boolean,
  onProgress?: (at: number) => void,
) {
  const reasons = new Set<string>();
  const importer = accountImporter(operator, { db, clock: new FakeClock(), hasher, isDryRun, onExisting: 'skip' });
  const counts: ImportCounts = await runImport(source, importer, {
    refused: async ({ reason }) => void reasons.add(reason.replace(/\d+/, 'n')),
    progress: ({ lines }) => onProgress?.(lines),
  });
  return { counts, reasons };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory in use after a garbage collection. */
function usedMib(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

test('an import of 200,000 lines uses bounded memory and reports its progress', async () => {
  await using opened = (await databases['sqlite']?.()) ?? assert.fail();
  const lines = 200_000;
  const progress: number[] = [];
  const used: number[] = [];
  const { counts, reasons } = await importFrom(opened.db, file(lines), true, (at) => {
    progress.push(at);
    if (at % (lines / 10) === 0) used.push(usedMib());
  });
  assert.deepEqual(counts, { lines, imported: lines * 0.998, existing: 0, refused: lines * 0.002 });
  assert.deepEqual([...reasons], ['email is not an email address', 'line n has the same email']);
  assert.ok(progress.length >= lines / limits.importLinesPerCommitMax);
  assert.ok(progress.every((at, index) => index === 0 || at >= (progress[index - 1] ?? 0)));
  // The email addresses take about 100 bytes each: 20 MiB. The parsed lines would take several times as much.
  assert.ok(used.length >= 10);
  const [first = 0] = used;
  assert.ok(Math.max(...used) - first < 24, `MiB in use: ${used.map(Math.round).join(' ')}`);
});

onEachDatabase('an interrupted import keeps whole batches, and a second run imports the rest', async ({ db }) => {
  const lines = 10_000;
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of file(lines / 2)) yield chunk;
    throw new Error('the disk is gone');
  };
  await assert.rejects(importFrom(db, broken(), false), /the disk is gone/);
  const kept = await countRows(db);
  assert.ok((kept['accounts'] ?? 0) > 4_000);
  assert.equal(kept['audit_events'], kept['accounts']);
  const { counts } = await importFrom(db, file(lines), false);
  assert.deepEqual(counts, {
    lines,
    imported: lines * 0.998 - (kept['accounts'] ?? 0),
    existing: kept['accounts'],
    refused: lines * 0.002,
  });
  const whole = await countRows(db);
  assert.deepEqual([whole['accounts'], whole['audit_events']], [lines * 0.998, lines * 0.998]);
});
