/** Builds a mutant, a copy of the program with textual edits, and runs the revocation check on it. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram } from '../../build.ts';
import type { Report } from '../../revocation-check/report.ts';
import type { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import type { Environment } from '../e2e/program.ts';
import { Cluster } from './cluster.ts';
import type { Edit, Mutant } from './mutant-edits.ts';
import { runWithFaults } from './run-with-faults.ts';

const checkout = fileURLToPath(new URL('../../../../', import.meta.url));
const server = 'packages/server';
const compiled = join(checkout, 'node_modules/.cache/keyreeve-copies');

/** The same in `faults.test.ts` and in runs of mutants. */
export const ordinaryRun = {
  deletionsBetween: 4,
  faultMs: 1_000,
  concurrency: 16,
  workload: { probesMax: 8 },
} as const;
/**
 * Of a run without faults, which ends at the first violation. On a slow machine, few probes hit a short violation. The number of
 * changes is that of two rounds of the scenario that changes keys.
 */
const withoutFaults = { deletionsBetween: 400, narrowingsBetween: 40 } as const;

/** Durable, so that acknowledged deletions survive a crash. Few connections, so that a fault can use all of them. */
export const serverOptions = { durable: true, settings: { max_connections: '100' } } as const;

/** @returns the edited files by name @throws AssertionError if the text of an edit does not occur exactly once */
export function applyEdits(edits: readonly Edit[], read: (file: string) => string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const [before, after, ...more] = (files.get(file) ?? read(file)).split(find);
    assert.ok(
      before !== undefined && after !== undefined && more.length === 0,
      `not exactly one place in ${file} for:\n${find}`,
    );
    files.set(file, before + replace + after);
  }
  return files;
}

export interface Copy {
  /** Its launcher. */
  readonly bin: string;
  readonly environment: Environment;
}

/** The copy shares the installed packages with the checkout, and compiled code with other copies: a start takes half of the time. */
export function makeCopy(folder: string, edits: readonly Edit[]): Copy {
  const source = join(folder, server, 'src');
  mkdirSync(join(folder, server), { recursive: true });
  for (const part of ['src', 'revocation-check', 'bin', 'package.json']) {
    cpSync(join(checkout, server, part), join(folder, server, part), { recursive: true });
  }
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  const edited = applyEdits(edits, (file) => readFileSync(join(source, file), 'utf8'));
  for (const [file, text] of edited) writeFileSync(join(source, file), text);
  mkdirSync(compiled, { recursive: true });
  symlinkSync(compiled, join(folder, 'compiled'));
  return {
    bin: join(folder, server, 'bin/keyreeve.js'),
    // Portable: an entry belongs to the path relative to the cache, which is the same in each copy.
    environment: { NODE_COMPILE_CACHE: join(folder, 'compiled'), NODE_COMPILE_CACHE_PORTABLE: '1' },
  };
}

/** Its launcher runs a build, as that of the package does. */
export function makeBuiltCopy(folder: string, edits: readonly Edit[]): Copy {
  const copy = makeCopy(folder, edits);
  buildProgram(join(folder, server, 'dist'), join(folder, server));
  return copy;
}

/** Runs until the first violation or the last fault. Without edits, it runs the program itself. */
export async function runMutant(
  { edits, faults, database, environment, verifiers }: Mutant,
  postgres: PostgresServer,
): Promise<Report> {
  using folder = newTempFolder();
  const copy = makeBuiltCopy(folder.path, edits);
  const embedded = database === 'embedded';
  await using cluster = await Cluster.start({
    instances: 2,
    bin: copy.bin,
    verifiers,
    postgres: embedded ? undefined : postgres,
    environment: { ...copy.environment, ...environment },
  });
  return await runWithFaults(cluster, {
    ...ordinaryRun,
    ...(faults.length === 0 ? withoutFaults : {}),
    faults,
    isOver: (violations) => violations > 0,
  });
}
