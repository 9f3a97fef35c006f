/** The npm package, which one process packs for all tests of a run: in TEST_PACKAGE_FOLDER, or in a folder of this process. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '../../../../scripts/package.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';

export const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

export interface SharedPackage {
  readonly archive: string;
  /** The files of the package. */
  readonly unpacked: string;
}

let shared: Promise<SharedPackage> | undefined;

export const sharedPackage = (): Promise<SharedPackage> =>
  (shared ??= findOrBuild(process.env['TEST_PACKAGE_FOLDER'] ?? ownFolder()));

function ownFolder(): string {
  const folder = newTempFolder();
  process.once('exit', () => folder[Symbol.dispose]());
  return folder.path;
}

/** What the process that packs the package leaves for the others. */
type Outcome = { readonly archive: string } | { readonly problem: string };

async function findOrBuild(parent: string): Promise<SharedPackage> {
  const folder = join(parent, 'keyreeve');
  const file = `${folder}.json`;
  const outcome = tryBuild(folder);
  if (outcome) {
    // At once, so that no process reads a part of it.
    writeFileSync(`${file}.partial`, JSON.stringify(outcome));
    renameSync(`${file}.partial`, file);
  }
  await until('another process has packed the package', () => existsSync(file));
  const found = JSON.parse(readFileSync(file, 'utf8')) as Outcome;
  if ('problem' in found) throw new Error(found.problem);
  return { archive: found.archive, unpacked: join(folder, 'package') };
}

/** @returns undefined if another process has begun: it has created the folder */
function tryBuild(folder: string): Outcome | undefined {
  try {
    return { archive: buildPackage(checkout, folder) };
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    return code === 'EEXIST' && path === folder ? undefined : { problem: message };
  }
}
