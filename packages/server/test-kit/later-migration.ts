/** The migrations of this program and one more, as a later version has them. This file imports nothing of the program. */
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { linkPackages } from './program-copy.ts';
import { newTempFolder } from './temp-folder.ts';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const migrationsIn = (root: string): string => join(root, 'packages/server/src/foundation/database/migrations');
const count = readdirSync(migrationsIn(checkout)).filter((name) => name.split('.').length === 2).length;
/** The migration that only the later version has. */
const name = `${String(count + 1).padStart(4, '0')}_later`;
// Changes tables in an order that is not that of their names.
const text = `-- compatible-from: 1
-- As a release adds columns and indexes.
alter table accounts add column later text;
alter table api_keys add column later text;
create index audit_events_later on audit_events (at);
`;

export interface LaterMigrations extends Disposable {
  readonly folder: URL;
  /** The names of the migrations that a database of this program lacks. */
  readonly missing: readonly string[];
}

export function newLaterMigrations(): LaterMigrations {
  const folder = newTempFolder();
  cpSync(migrationsIn(checkout), folder.path, { recursive: true });
  writeFileSync(join(folder.path, `${name}.sql`), text);
  const dispose = (): void => folder[Symbol.dispose]();
  return { folder: pathToFileURL(`${folder.path}/`), missing: [name], [Symbol.dispose]: dispose };
}

export interface LaterProgram extends Disposable, Pick<LaterMigrations, 'missing'> {
  /** The launcher. */
  readonly bin: string;
}

/** A copy of this program with the later migration. It shares the installed packages with the checkout. */
export function newLaterProgram(): LaterProgram {
  const folder = newTempFolder();
  for (const one of readdirSync(join(checkout, 'packages'))) {
    const [from, to] = [checkout, folder.path].map((root) => join(root, 'packages', one)) as [string, string];
    cpSync(from, to, { recursive: true, filter: (path) => !/\/(?:node_modules|test|test-kit)$/.test(path) });
  }
  writeFileSync(join(migrationsIn(folder.path), `${name}.sql`), text);
  linkPackages(folder.path);
  const dispose = (): void => folder[Symbol.dispose]();
  return { bin: join(folder.path, 'packages/server/bin/keyreeve.js'), missing: [name], [Symbol.dispose]: dispose };
}
