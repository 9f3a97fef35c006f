/** A reporter of node:test: one line of JSON for each test that passed, with its file, relative to the repository, and its tags. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { fileOfTags } from '../packages/server/test-kit/shared-process.ts';

const root = new URL('..', import.meta.url).pathname;

export interface PassedTest {
  readonly file: string;
  readonly tags: readonly string[];
}

/** `file` is where `test` of node:test was called, which may be a file that many share; `entryFile` is what was run. */
interface Place {
  readonly file?: string | undefined;
  readonly entryFile?: string | undefined;
}

export default async function* passedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.details.type === 'suite' || data.skip || data.todo) continue;
    const { file, entryFile = file }: Place = data;
    if (entryFile === undefined) continue;
    const passed: PassedTest = { file: fileOfTags(data.tags) ?? relative(root, entryFile), tags: data.tags };
    yield `${JSON.stringify(passed)}\n`;
  }
}
