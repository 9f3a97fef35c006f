/** What a client prefers, as its headers say it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { preferredLanguage, prefersPage } from '../language.ts';

/** As long as the header lines of a request may be. */
const chars = limits.headerBytesMax;
const hostileHeaders = [
  `text/html,"${','.repeat(chars)}`,
  `text/html;a="${';'.repeat(chars)}`,
  'text/html,'.repeat(chars / 10),
  'de,'.repeat(chars / 3),
  `de${' '.repeat(chars)}x`,
];
/** Of one header. A fast machine took 24 to 61 ms for most of them without the bound. */
const msMax = 5;

function durationMs(work: () => unknown): number {
  const startedMs = monotonicMs();
  work();
  return monotonicMs() - startedMs;
}

test('a header Accept or Accept-Language of any content takes less than 5 ms', () => {
  for (const header of hostileHeaders) {
    for (const parse of [prefersPage, preferredLanguage]) {
      // The fastest of several: a busy machine delays one or the other.
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
