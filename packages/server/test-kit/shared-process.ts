/**
 * Runs test files one after another in one process. Each is a suite, so its hooks apply to its own tests only. A test that changes
 * the state of the process must restore it, and must not expect to be alone in it.
 */
import { createRequire } from 'node:module';
import { after, before, describe } from 'node:test';
import { startTime } from './file-times.ts';

const prefix = 'file:';

/** @param files absolute paths, by the paths from the root of the repository under which they are reported */
export function runInThisProcess(files: Readonly<Record<string, string>>): void {
  const require = createRequire(import.meta.url);
  for (const [path, absolute] of Object.entries(files)) {
    describe(path, { tags: [`${prefix}${path}`] }, () => {
      let end: (() => void) | undefined;
      before(() => void (end = startTime(absolute)));
      after(() => end?.());
      // `import` would register tests in the suite of another file that is loaded at the same time.
      require(absolute);
    });
  }
}

/** @returns the path of the file that a test belongs to, from its tags; undefined if the file has a process of its own */
export const fileOfTags = (tags: readonly string[]): string | undefined =>
  tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length);
