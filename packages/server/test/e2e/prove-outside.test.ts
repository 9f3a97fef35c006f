/** `keyreeve prove-revocation --url`: the revocation check from outside, on running instances and on faulty ones. */
import assert from 'node:assert/strict';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { version } from '../../src/app/version.ts';
import { currentKind, newPlace } from '../../test-kit/new-db.ts';
import { newProgram, startProgram } from './program.ts';

import { cluster, issue, prove } from './outside-check.ts';

testOnEach('the check from outside passes on two correct instances, whose versions the report names', async () => {
  await using place = await newPlace();
  await using first = await newProgram({ ...cluster, ...place.environment });
  await using second = await startProgram(first.folder, first.environment);
  const credential = await issue(first);
  const urls = [first.url, second.url];
  const { status, result } = await prove(credential, urls, '--deletions', '20', '--seed', '7');
  assert.deepEqual([status, result.reason], [0, null], JSON.stringify(result, undefined, 1));
  const { report, instances, checker, seed, warnings, leftBehind, notCovered } = result;
  assert.ok(report);
  assert.deepEqual([report.violations, report.examples, report.acceptedAfterMsMax], [0, [], null]);
  assert.deepEqual([seed, warnings, leftBehind], [7, [], []]);
  assert.deepEqual(checker, { version, node: process.version });
  assert.equal(result.credential?.keyId, credential.keyId);
  assert.ok(notCovered.length > 0);
  assert.ok(Date.parse(result.startedAt) < Date.parse(result.endedAt));
  assert.deepEqual(
    instances.map(({ url }) => url),
    urls,
  );
  for (const { verdicts, processes, cachedResponses, clockDifferenceMs } of instances) {
    assert.ok(verdicts > 100);
    assert.deepEqual(
      processes.map(({ version: of, node, database }) => ({ version: of, node, database })),
      [{ version, node: process.version, database: currentKind.getStore() }],
    );
    assert.equal(cachedResponses, 0);
    assert.ok(Math.abs(clockDifferenceMs ?? Infinity) < 10_000);
  }
  const { acknowledged, created } = report.deletions;
  assert.ok(acknowledged >= 20 && created === acknowledged && report.lists > 0);
  // Each deletion is followed by verifications at both instances by eight methods.
  assert.ok(report.verifications.afterRevocation >= acknowledged * 16, JSON.stringify(report.verifications));
  const keys = await first.command(['key', 'list', '--account', credential.accountId, '--json']);
  const left = JSON.parse(keys.stdout) as { id: number }[];
  assert.deepEqual(
    left.map(({ id }) => id),
    [credential.keyId],
  );
});
