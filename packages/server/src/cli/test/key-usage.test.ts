/** The output of `keyreeve key usage`. The transcripts have no service that counts verifications. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usageText } from '../key-usage.ts';

const entries = [
  { at: '2026-11-21T08:00:00.000Z', accepted: 1842, refused: 0 },
  { at: '2026-11-21T10:00:00.000Z', accepted: 9, refused: 12 },
];

test('usage is one line for each hour or day, and a total', () => {
  assert.equal(
    usageText(entries, 'hour'),
    [
      'HOUR               ACCEPTED  REFUSED',
      '2026-11-21T08:00Z  1842      0',
      '2026-11-21T10:00Z  9         12',
      'total              1851      12',
    ].join('\n'),
  );
  assert.equal(usageText(entries.slice(0, 1), 'day').split('\n')[1], '2026-11-21  1842      0');
  assert.equal(usageText([], 'day'), 'DAY    ACCEPTED  REFUSED\ntotal  0         0');
});
