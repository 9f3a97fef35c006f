/**
 * `npm run build`: builds the console, the guides and the program, as `npm start` does if their inputs have changed. Packages are built
 * from the same functions. `npm run build -- --site <new folder>` writes the guides as a site for any web server, below any path.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builds, isBuilt, stampName, stampOf } from '../packages/server/bin/build-stamp.js';

type BuildName = keyof typeof builds;

/** Loaded when needed: without the development dependencies, esbuild is missing. */
const builders: Readonly<Record<BuildName, () => Promise<(folder: string) => void>>> = {
  console: async () => (await import('../packages/console/build.ts')).buildConsole,
  guides: async () => (await import('../packages/guides/build.ts')).buildGuides,
  program: async () => (await import('../packages/server/build.ts')).buildProgram,
};

/** @throws Error if a source has an error, or a file cannot be written */
export async function buildIfChanged(name: BuildName): Promise<void> {
  if (!isBuilt(builds[name])) await renew(name);
}

/**
 * Builds in a temporary folder, which then replaces that of the earlier build: a program that starts meanwhile finds the files of one
 * build, or none. Other processes may do the same at the same time. @throws Error as above; the earlier build is then as before
 */
async function renew(name: BuildName): Promise<void> {
  const build = builds[name];
  const stamp = stampOf(build);
  const write = await builders[name]();
  const temporary = mkdtempSync(`${build.folder}-`);
  try {
    const [built, replaced] = [join(temporary, 'built'), join(temporary, 'replaced')];
    write(built);
    writeFileSync(join(built, stampName), stamp);
    // The earlier build first: Windows renames no folder to the name of an existing one.
    do {
      rmSync(replaced, { recursive: true, force: true });
      tryRename(build.folder, replaced);
    } while (!tryRename(built, build.folder));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns false if the folder does not exist, or the new path does */
function tryRename(folder: string, path: string): boolean {
  try {
    renameSync(folder, path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** @returns whether the build is that of the sources; otherwise the reason was printed, without a stack trace */
async function tryBuild(name: BuildName, isForced: boolean): Promise<boolean> {
  try {
    if (isForced) await renew(name);
    else await buildIfChanged(name);
    return true;
  } catch (error) {
    process.stderr.write(`The ${name} cannot be built: ${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  }
}

/** @throws Error if the folder exists, or a document has an error */
async function writeSite(folder: string): Promise<void> {
  const { buildGuides } = await import('../packages/guides/build.ts');
  mkdirSync(folder);
  buildGuides(folder, 'files');
}

if (import.meta.main) {
  const [option, folder] = process.argv.slice(2);
  if (option === '--site') {
    if (folder === undefined) throw new Error('name a new folder');
    await writeSite(folder);
  } else {
    for (const name of Object.keys(builds) as BuildName[])
      if (!(await tryBuild(name, option !== '--if-changed'))) process.exitCode = 1;
  }
}
