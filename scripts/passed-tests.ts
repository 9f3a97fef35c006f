/** A reporter of node:test: one line of JSON for each test that ran and passed, its file relative to the repository. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const root = new URL('..', import.meta.url).pathname;

/** `file` is where `test` of node:test was called, which may be a file that many share; `entryFile` is what was run. */
interface Place {
  readonly file?: string | undefined;
  readonly entryFile?: string | undefined;
}

export default async function* passedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip || data.todo) continue;
    const { file, entryFile = file }: Place = data;
    if (entryFile !== undefined) yield `${JSON.stringify({ file: relative(root, entryFile), name: data.name })}\n`;
  }
}
