/** `keyreeve prove-revocation` on proxies that simulate broken instances. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import type { RunResult } from '../../revocation-check/run.ts';
import { cachingFor, losingResponses, startFaultyInstance, untilDetected } from './faulty-instance.ts';
import { environmentFor, keyreeveBin, newProgram, Program, startProgram } from './program.ts';

import { prove, assertNoCanaries } from './revocation-command.ts';

test('where the scope catalogue is enforced, the check changes scopes and entitlements, and deletes its scopes', async () => {
  await using program = await newProgram({ KEYREEVE_SCOPES: 'catalogue' });
  const { status, result } = await prove(program, [program.url], '--deletions', '40');
  assert.deepEqual([status, result.reason], [0, null], JSON.stringify(result, undefined, 1));
  const { entitlement = 0, scopeMarked = 0, scopeDeleted = 0 } = result.report?.keyChanges ?? {};
  assert.ok(entitlement > 0 && scopeMarked + scopeDeleted > 0, JSON.stringify(result.report?.keyChanges));
  await assertNoCanaries(program, result);
  const { stdout } = await program.command(['scope', 'list', '--json']);
  const scopes = JSON.parse(stdout) as { name: string; deletedAt: string | null }[];
  assert.ok(scopes.some(({ name }) => name === 'canary:entitled'));
  assert.ok(scopes.every(({ name, deletedAt }) => name.startsWith('canary:') && deletedAt !== null));
});

test('lost responses count as unknown and cause no violation', async () => {
  await using program = await newProgram();
  await using losing = await startFaultyInstance(program.url, losingResponses({ DELETE: 3, GET: 7, POST: 9 }));
  const { status, result } = await prove(program, [losing.url], '--deletions', '20');
  assert.deepEqual([status, result.reason], [0, null], JSON.stringify(result, undefined, 1));
  assert.ok((result.report?.verifications.unknown ?? 0) > 0);
  assert.ok((result.report?.deletions.unknown ?? 0) > 0);
  await assertNoCanaries(program, result);
});

test('an instance that rejects another’s access tokens is reported, with the settings to compare', async () => {
  await using first = await newProgram();
  await using second = await startProgram(first.folder);
  const { status, result } = await prove(first, [first.url, second.url]);
  assert.deepEqual(
    [status, result.reason],
    [
      1,
      `${second.url} returns 401 for an access token of ${first.url}: do all instances have the same KEYREEVE_PUBLIC_URL and KEYREEVE_AUDIENCE?`,
    ],
  );
  await assertNoCanaries(first, result);
});

test('Ctrl-C ends the check, which removes its accounts', async () => {
  await using program = await newProgram();
  let isBusy: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => (isBusy = resolve));
  let requests = 0;
  await using watched = await startFaultyInstance(program.url, (_request, _body, forward) => {
    if (++requests === 200) isBusy();
    return forward();
  });
  const args = [keyreeveBin, 'prove-revocation', '--instances', watched.url, '--seconds', '600', '--json'];
  const child = spawn(process.execPath, args, { cwd: program.folder, env: environmentFor(program.folder) });
  await using command = new Program(child, program.folder);
  await Promise.race([busy, once(child, 'close')]);
  command.signal('SIGINT');
  const { status, stdout } = await command.exited();
  const result = JSON.parse(stdout) as RunResult;
  assert.deepEqual([status, result.isProven, result.reason], [1, false, 'it was interrupted']);
  await assertNoCanaries(program, result);
});

test('the check detects an instance with a cache of 100 ms', async () => {
  await using program = await newProgram();
  await using caching = await startFaultyInstance(program.url, cachingFor(100));
  const few = ['--deletions', '20', '--concurrency', '8'];
  const { status, result } = await untilDetected(
    () => prove(program, [program.url, caching.url], ...few),
    ({ status: exit }) => exit !== 0,
  );
  assert.equal(status, 1);
  const { report, reason, isProven } = result;
  assert.ok(report && report.violations > 0);
  assert.deepEqual([isProven, reason], [false, `${report.violations} violation${report.violations === 1 ? '' : 's'}`]);
  assert.ok((report.acceptedAfterMsMax ?? 0) > 0);
  // Some explanations name only the correct instance, because its results contradict the other’s.
  assert.ok(report.examples.some(({ explanation }) => explanation.includes(caching.url)));
  await assertNoCanaries(program, result);

  const command = ['prove-revocation', '--instances', caching.url, ...few];
  const output = await untilDetected(
    () => program.command(command),
    ({ status: exit }) => exit !== 0,
  );
  assert.deepEqual([output.status, output.stderr], [1, '']);
  // The first violation can concern one secret of a key.
  assert.match(
    output.stdout,
    /^Not proven: \d+ violations?\.\n- \S.*:\n {2}(?:\S.* of )?(?:key|account) \S+: \S.* by /,
  );
});
