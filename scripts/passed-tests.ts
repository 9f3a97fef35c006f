/** A reporter of node:test: one line of JSON for each test that ran and passed, its file relative to the repository. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const root = new URL('..', import.meta.url).pathname;

export default async function* passedTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip || data.todo || data.file === undefined) continue;
    yield `${JSON.stringify({ file: relative(root, data.file), name: data.name })}\n`;
  }
}
