/**
 * `npm run baseline`: adds the checksums of new migrations to those that tests compare. Where the baseline is not frozen, it also renews
 * the baseline (`packages/server/test/data/baseline`) with the program of the checkout, and `-- --freeze` packs the program: from then
 * on, the baseline is that of a release and never changes.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  baselineEnvironment,
  baselineFolder,
  frozenProgram,
  isFrozen,
  packProgram,
  type Baseline,
} from '../packages/server/test/e2e/baseline.ts';
import { createCredentials, endSome } from '../packages/server/test/e2e/every-credential.ts';
import { startProgram } from '../packages/server/test/e2e/program.ts';
import { newTempFolder } from '../packages/server/test-kit/temp-folder.ts';
import { buildPackage } from './package.ts';

const checkout = join(import.meta.dirname, '..');
const database = new URL('../packages/server/src/foundation/database/', import.meta.url);
/** Of the database, and of the second file of SQLite. */
const migrationFolders = ['migrations', 'usage-migrations'];
const checksums = new URL('../packages/server/src/foundation/database/test/migration-checksums.json', import.meta.url);

/** @returns by file: SHA-256 in hexadecimal */
const sha256Of = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(new URL(file, database)))
    .digest('hex');

async function writeBaseline(): Promise<void> {
  using folder = newTempFolder();
  const at = (name: string): string => join(folder.path, name);
  const masterKey = Buffer.alloc(32, 6).toString('base64url');
  const environment = {
    ...baselineEnvironment,
    KEYREEVE_DATABASE_URL: `sqlite:${at('keyreeve.db')}`,
    KEYREEVE_DELETION_JOURNAL: at('journal'),
    KEYREEVE_MASTER_KEY: masterKey,
  };
  await using program = await startProgram(folder.path, environment);
  const { credentials, later } = await createCredentials(program);
  const backup = await program.command(['backup', '--to', at('backup.jsonl')]);
  if (backup.status !== 0) throw new Error(backup.stderr);
  await endSome(program, credentials, later);
  const { status } = await program.stop();
  if (status !== 0) throw new Error(`the service ended with the status ${status}`);

  for (const name of readdirSync(baselineFolder).filter((one) => one !== 'README.md'))
    rmSync(join(baselineFolder, name), { recursive: true });
  mkdirSync(baselineFolder, { recursive: true });
  const baseline: Baseline = { masterKey, writtenAt: new Date().toISOString(), credentials };
  writeFileSync(join(baselineFolder, 'baseline.json'), `${JSON.stringify(baseline, null, 2)}\n`);
  writeFileSync(join(baselineFolder, 'keyreeve.db.gz'), gzipSync(readFileSync(at('keyreeve.db')), { level: 9 }));
  cpSync(at('backup.jsonl'), join(baselineFolder, 'backup.jsonl'));
  cpSync(at('journal'), join(baselineFolder, 'journal'), { recursive: true });
  if (!process.argv.includes('--freeze')) return;
  buildPackage(checkout, at('package'));
  packProgram(at('package/package'), frozenProgram);
}

function writeChecksums(): void {
  const files = migrationFolders.flatMap((parent) =>
    readdirSync(new URL(parent, database))
      .toSorted()
      .map((name) => `${parent}/${name}`),
  );
  const found = Object.fromEntries(files.map((file) => [file, sha256Of(file)]));
  // Those of released migrations stay, so that the test detects a change.
  const released = isFrozen ? (JSON.parse(readFileSync(checksums, 'utf8')) as typeof found) : {};
  writeFileSync(checksums, `${JSON.stringify({ ...found, ...released }, null, 2)}\n`);
}

writeChecksums();
if (!isFrozen) void writeBaseline();
