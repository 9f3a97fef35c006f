/** The service with KEYREEVE_BOOTSTRAP. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertAppliedOnce, content, newFolder } from './applied-starts.ts';
import { runProcess, type Environment } from './program.ts';

test('instances that start together apply a file once, and a start never brings a deleted key back (postgres)', () =>
  assertAppliedOnce('postgres'));

test('a file that cannot be applied prevents the start', async () => {
  using folder = newFolder();
  const environment: Environment = { KEYREEVE_BOOTSTRAP: folder.file };
  const refused = async (text: string): Promise<string> => {
    writeFileSync(folder.file, text, { mode: 0o600 });
    const { status, stdout, stderr } = await runProcess(['serve'], { folder: folder.path, environment });
    assert.equal(status, 78, stderr);
    assert.doesNotMatch(stdout, /listening/);
    return stderr;
  };
  const { scopes: _, ...others } = content;
  assert.match(
    await refused(JSON.stringify({ ...others, keys: [{ ...content.keys[0], sha256: 'ff' }], scope: [] })),
    /KEYREEVE_BOOTSTRAP \(.*keyreeve\.json\): \/keys\/0\/sha256: Expected text of the form.*\n.*: \/scope: This field is unknown/,
  );
  // Only the database shows this one.
  assert.match(
    await refused(JSON.stringify({ ...content, serviceAccounts: [{ name: 'gateway', entitlements: ['none'] }] })),
    /\/serviceAccounts\/0\/entitlements\/0: none is not a declared scope that needs an entitlement/,
  );
});
