/**
 * Which test files share a process. Half of the processor time of most files goes into loading the service, and into code that is
 * not yet compiled. Files that start programs have a process of their own: they wait more than they work.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const filesMax = 12;

const isShared = (file: string): boolean => /^packages\/(?:server\/src|contract)\//.test(file);

/** @returns groups of neighbours; at most 12 files each, and at least one group for each process that runs at once */
export function groupsOf(files: readonly string[], processesAtOnce: number): string[][] {
  const size = Math.min(filesMax, Math.ceil(files.length / processesAtOnce));
  const starts = files.flatMap((_, index) => (index % size === 0 ? [index] : []));
  return starts.map((start) => files.slice(start, start + size));
}

/**
 * @param folder for a module that runs the files of a shared process
 * @returns what `node --test` runs
 */
export function writeProcesses(
  root: string,
  folder: string,
  files: readonly string[],
  processesAtOnce: number,
): string[] {
  const runner = import.meta.resolve('../packages/server/test-kit/shared-process.ts');
  const shared = groupsOf(files.filter(isShared), processesAtOnce).map((group, index) => {
    const path = join(folder, `process-${index + 1}.test.mjs`);
    const paths = Object.fromEntries(group.map((file) => [file, join(root, file)]));
    writeFileSync(path, `import { runInThisProcess } from '${runner}';\nrunInThisProcess(${JSON.stringify(paths)});\n`);
    return path;
  });
  return [...shared, ...files.filter((file) => !isShared(file))];
}
