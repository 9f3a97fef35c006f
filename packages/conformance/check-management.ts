/** The scenario of the management: what the program of each library does, and returns as its transcript. */
import assert from 'node:assert/strict';
import { newBackend } from '../server/test-kit/service-accounts.ts';
import type { TestApp } from '../server/test-kit/new-app.ts';
import type { LibraryProgram } from './library-program.ts';

/** The steps in their order. The README describes them. */
const expected = {
  created: ['Analytical Engines', 'tenant_182'],
  taken: [409, 'external_id_taken'],
  found: [true, false],
  renamed: 'Engines',
  firstPage: [1, true],
  listed: 3,
  // Milliseconds: the session lasts an hour, and the token a minute.
  portal: [true, 59 * 60_000],
  portalEnded: [404, 'portal_session_not_found'],
  quota: [10_000, 'month'],
  rotated: true,
  // Secrets in the printed results of the creations and the rotation.
  printed: 0,
  rate: 60,
  pages: [
    ['c', 'b'],
    ['a', true],
  ],
  left: ['b', 'c'],
  missing: [404, 'key_not_found'],
  deleted: [404, 'account_not_found'],
  unreachable: [0, 'unavailable'],
};

export async function checkManagement(program: LibraryProgram, app: TestApp): Promise<void> {
  const { key } = await newBackend(app);
  assert.deepEqual(await program.manage(app.url, key), expected);
}
