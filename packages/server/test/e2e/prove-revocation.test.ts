/** `keyreeve prove-revocation` on running instances, and on proxies that simulate broken ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newProgram, startProgram } from './program.ts';

import { prove, assertNoCanaries } from './revocation-command.ts';

/** Instances with one public URL accept each other’s access tokens. */
const cluster = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

testOnEach('the check passes on two correct instances', async () => {
  await using place = await newPlace();
  await using first = await newProgram({ ...cluster, ...place.environment });
  await using second = await startProgram(first.folder, first.environment);
  const { status, result } = await prove(first, [first.url, second.url], '--deletions', '20');
  assert.deepEqual([status, result.isProven, result.reason], [0, true, null], JSON.stringify(result, undefined, 1));
  const { report, instances } = result;
  assert.ok(report);
  assert.deepEqual([report.violations, report.examples, report.acceptedAfterMsMax], [0, [], null]);
  assert.deepEqual(
    instances.map(({ url }) => url),
    [first.url, second.url],
  );
  const { accepted, refused, unknown, total, afterRevocation } = report.verifications;
  assert.equal(accepted + refused + unknown, total);
  assert.equal(unknown, 0);
  assert.ok(accepted > 100 && refused > 100, `${accepted} accepted, ${refused} refused`);
  assert.ok(instances.every(({ verdicts }) => verdicts > 100));
  const { acknowledged, created, caller, imported } = report.deletions;
  assert.ok(acknowledged >= 20 && report.accountChanges > 0 && report.lists > 0);
  // This installation has no imported keys, and the check must not import the first one.
  assert.ok(created > 0 && caller > 0, JSON.stringify(report.deletions));
  assert.deepEqual([created + caller, imported], [acknowledged, 0]);
  // Each deletion is followed by verifications at both instances by seven methods.
  assert.ok(afterRevocation >= acknowledged * 14, `${afterRevocation} after a revocation`);
  const {
    publicKeyEnded,
    trustEnded,
    issuerNarrowed,
    issuerRemoved,
    programRemoved,
    approvalDenied,
    portalSessionEnded,
  } = report.keyChanges;
  const counts = [
    publicKeyEnded,
    trustEnded,
    issuerNarrowed,
    issuerRemoved,
    programRemoved,
    approvalDenied,
    portalSessionEnded,
  ];
  assert.ok(
    counts.every((count) => count > 0),
    JSON.stringify(report.keyChanges),
  );
  assert.ok(report.verifyLatency.msP99 && report.deleteLatency.msP50);
  await assertNoCanaries(first, result);
});

test('an unreachable instance and one with another database are reported before the run', async () => {
  await using program = await newProgram();
  await using other = await newProgram();
  const closed = 'http://127.0.0.1:1';
  const { status, result } = await prove(program, [program.url, closed, other.url]);
  assert.equal(status, 1);
  assert.equal(result.report, null);
  assert.match(
    result.reason ?? '',
    new RegExp(
      `^${RegExp.escape(closed)} cannot be reached: .*ECONNREFUSED.*; ${RegExp.escape(other.url)} rejects a new key .*: does it use the database of this configuration\\?$`,
    ),
  );
  await assertNoCanaries(program, result);
});
