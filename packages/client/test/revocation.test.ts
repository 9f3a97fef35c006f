/** The revocation check passes on this library. The runs of other libraries, and on broken builds, are in the extended lane. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from '../../server/test-kit/app-on-each-database.ts';
import { runRevocationCheckOn } from '../../conformance/revocation-run.ts';

const program = join(import.meta.dirname, 'program.ts');

test('a key that was deleted before a verification is refused', async () => {
  const { result, verifications } = await runRevocationCheckOn({ command: process.execPath, args: [program] });
  assert.deepEqual([result.reason, result.report?.examples], [null, []]);
  assert.ok(verifications > 100, `${verifications}`);
});
