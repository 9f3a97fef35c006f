/** Preferences of clients in Accept, Accept-Language and Accept-Encoding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { acceptedCodings, preferredLanguage, prefersPage } from '../language.ts';

// Within the limit, no content takes long. The time of most grows with the square of the length: 24 to 61 ms for 16 KiB.
test('a header Accept, Accept-Language or Accept-Encoding that is longer than the limit is not parsed', () => {
  const filled = (header: string, length: number): string => header + ' '.repeat(length - header.length);
  const { preferenceCharsMax: max } = limits;
  const preferences = (length: number) => [
    prefersPage(filled('text/html', length)),
    preferredLanguage(filled('de', length)),
    acceptedCodings(filled('br', length)),
  ];
  assert.deepEqual(preferences(max), [true, 'de', ['br']]);
  assert.deepEqual(preferences(max + 1), [false, undefined, []]);
});
