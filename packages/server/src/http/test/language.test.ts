/** Preferences of clients in Accept, Accept-Language and Accept-Encoding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { acceptsBrotli, preferredLanguage, prefersPage } from '../language.ts';

/** The maximum size of the headers of a request. */
const chars = limits.headerBytesMax;
const hostileHeaders = [
  `text/html,"${','.repeat(chars)}`,
  `text/html;a="${';'.repeat(chars)}`,
  'text/html,'.repeat(chars / 10),
  'de,'.repeat(chars / 3),
  `de${' '.repeat(chars)}x`,
];
/** For one header. Without the bound, most take 24 to 61 ms on a fast machine. */
const msMax = 5;

function durationMs(run: () => unknown): number {
  const startedMs = monotonicMs();
  run();
  return monotonicMs() - startedMs;
}

test('a header Accept, Accept-Language or Accept-Encoding of any content takes less than 5 ms', () => {
  for (const header of hostileHeaders) {
    for (const parse of [prefersPage, preferredLanguage, acceptsBrotli]) {
      // The fastest of several runs, because a busy machine delays some.
      const ms = Math.min(...Array.from({ length: 5 }, () => durationMs(() => parse(header))));
      assert.ok(ms < msMax, `${parse.name} took ${ms} ms for ${header.slice(0, 20)}…`);
    }
  }
});

test('a header that is longer than the limit expresses no preference', () => {
  const filled = (header: string, length: number): string => header + ' '.repeat(length - header.length);
  const { preferenceCharsMax: max } = limits;
  assert.deepEqual([prefersPage(filled('text/html', max)), preferredLanguage(filled('de', max))], [true, 'de']);
  assert.deepEqual(
    [prefersPage(filled('text/html', max + 1)), preferredLanguage(filled('de', max + 1))],
    [false, undefined],
  );
});
