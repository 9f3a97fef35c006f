/**
 * An SQLite file with the tables of the newest schema and without rows. Tests copy it, because a copy takes less time than the
 * migrations.
 */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/foundation/clock.ts';
import { deriveKeys } from '../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { runEnvironment } from './run-environment.ts';
import { newTempFolder } from './temp-folder.ts';

let shared: Promise<string> | undefined;

/** Copies the template that `scripts/test.ts` made, otherwise one of this process. */
export async function copySqliteTemplate(path: string): Promise<void> {
  shared ??= find();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(await shared, path);
}

async function find(): Promise<string> {
  if (runEnvironment.sqliteTemplate !== undefined) return runEnvironment.sqliteTemplate;
  const { path: folder } = newTempFolder();
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return makeSqliteTemplate(folder);
}

/** @returns the path of the file */
export async function makeSqliteTemplate(folder: string): Promise<string> {
  const path = join(folder, 'migrated.db');
  const { auditChain } = deriveKeys(Buffer.alloc(32));
  const db = await openDatabase({ kind: 'sqlite', path }, auditChain);
  await migrate(db, systemClock);
  await db.close();
  return path;
}
