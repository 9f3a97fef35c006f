/** The table of `docs/administration.md` is the contract's list of what administrators may ask, with what each needs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';

const page = readFileSync(new URL('../../../../docs/administration.md', import.meta.url), 'utf8');

test('the page of administration lists every route of it, and whether it needs a recent sign-in', () => {
  const rows = [...page.matchAll(/^\| `([^`]+)` +\| (.+?) +\| (yes|no) +\|$/gm)].map(([, ...cells]) => cells);
  const expected = allRoutes
    .filter(({ auth }) => auth === 'administrator')
    .map(({ method, path, summary, needsRecentSignIn = false }) => [
      `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      summary,
      needsRecentSignIn ? 'yes' : 'no',
    ]);
  assert.deepEqual(rows, expected);
});
