/** The table of the slowest test files, which `npm test` prints at its end. */
import { relative } from 'node:path';
import type { FileTime } from '../packages/server/test-kit/file-times.ts';

const filesListed = 15;

export interface RunTime {
  /** Of the whole run. */
  readonly seconds: number;
  /** Of all processes of the run, those that the files share included. */
  readonly processorSeconds: number;
}

/** @param lines what `file-times.ts` recorded: a line of JSON for each file and run */
export function timesTable(root: string, lines: string, run: RunTime): string {
  const files = sumByFile(
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as FileTime),
  );
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, filesListed);
  const ofFiles = files.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  const rows = [
    ['seconds', 'processor', ''],
    ...slowest.map((one) => [one.seconds.toFixed(1), one.processorSeconds.toFixed(1), relative(root, one.file)]),
    ['', ofFiles.toFixed(1), `all ${files.length} files`],
    ['', (run.processorSeconds - ofFiles).toFixed(1), 'checks, PostgreSQL, Chromium and the runner'],
    [run.seconds.toFixed(1), run.processorSeconds.toFixed(1), 'in total'],
  ];
  const lineOf = ([seconds = '', processor = '', what = '']: string[]): string =>
    `${seconds.padStart(8)} ${processor.padStart(10)}  ${what}`.trimEnd();
  return `The slowest test files:\n${rows.map(lineOf).join('\n')}\n`;
}

/** A file runs twice in the extended lane if both databases have tests in it. */
function sumByFile(times: readonly FileTime[]): FileTime[] {
  const sums = new Map<string, FileTime>();
  for (const { file, seconds, processorSeconds } of times) {
    const before = sums.get(file);
    sums.set(file, {
      file,
      seconds: seconds + (before?.seconds ?? 0),
      processorSeconds: processorSeconds + (before?.processorSeconds ?? 0),
    });
  }
  return [...sums.values()];
}
