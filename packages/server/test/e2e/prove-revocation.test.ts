/** `keyreeve prove-revocation` against real instances, right ones and wrong ones. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { databaseKinds, newPlace } from '../../test-kit/new-db.ts';
import type { Proof } from '../../revocation-check/prove.ts';
import { losingAnswers, remembering, startFalseInstance } from './false-instance.ts';
import { environmentFor, keyreeveBin, newProgram, Program, startProgram } from './program.ts';

const proofMsMax = 60_000;
/** Instances that accept each other’s access tokens say the same of themselves. */
const cluster = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

interface Proved {
  readonly status: number | null;
  readonly proof: Proof;
}

async function prove(program: Program, instances: readonly string[], ...more: readonly string[]): Promise<Proved> {
  const args = ['prove-revocation', '--json', '--instances', instances.join(','), ...more];
  const { status, stdout, stderr } = await program.command(args);
  assert.equal(stderr, '');
  return { status, proof: JSON.parse(stdout) as Proof };
}

/** Whatever happened, no canary is left. */
async function assertNothingIsLeft(program: Program, proof: Proof): Promise<void> {
  assert.deepEqual(proof.leftBehind, []);
  assert.equal((await program.command(['account', 'list', '--json'])).stdout, '[]\n');
}

for (const kind of databaseKinds) {
  test(`two instances prove it: every verification after a deletion’s answer is refused (${kind})`, async () => {
    await using place = await newPlace(kind);
    await using first = await newProgram({ ...cluster, ...place.environment });
    await using second = await startProgram(first.folder, first.environment);
    const { status, proof } = await prove(first, [first.url, second.url], '--deletions', '20');
    assert.deepEqual([status, proof.isProven, proof.reason], [0, true, null], JSON.stringify(proof, undefined, 1));
    const { report, instances } = proof;
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
    // Over HTTP and of callers. No key was ever imported here, and the check must not be the first to do it.
    assert.ok(created > 0 && caller > 0, JSON.stringify(report.deletions));
    assert.deepEqual([created + caller, imported], [acknowledged, 0]);
    // Each deletion is followed by a verification at each instance in each of seven ways, at once.
    assert.ok(afterRevocation >= acknowledged * 14, `${afterRevocation} after a revocation`);
    assert.ok(report.verifyLatency.msP99 && report.deleteLatency.msP50);
    await assertNothingIsLeft(first, proof);
  });
}

test('an instance that remembers what it accepted for 100 ms is caught', async () => {
  await using program = await newProgram();
  await using caching = await startFalseInstance(program.url, remembering(100));
  const { status, proof } = await prove(program, [program.url, caching.url], '--deletions', '20', '--concurrency', '8');
  assert.equal(status, 1);
  const { report, reason, isProven } = proof;
  assert.ok(report && report.violations > 0);
  assert.deepEqual([isProven, reason], [false, `${report.violations} violation${report.violations === 1 ? '' : 's'}`]);
  assert.ok((report.acceptedAfterMsMax ?? 0) > 0);
  // Right instances contradict what it says, so some explanations name only them.
  assert.ok(report.examples.some(({ explanation }) => explanation.includes(caching.url)));
  await assertNothingIsLeft(program, proof);

  const told = await program.command([
    'prove-revocation',
    '--instances',
    caching.url,
    '--deletions',
    '20',
    '--concurrency',
    '8',
  ]);
  assert.deepEqual([told.status, told.stderr], [1, '']);
  assert.match(told.stdout, /^Not proven: \d+ violations?\.\n- \S.*:\n {2}(?:key|account) \S+: \S.* by /);
});

test('answers that are lost cost certainty, and accuse nobody', async () => {
  await using program = await newProgram();
  await using losing = await startFalseInstance(program.url, losingAnswers({ DELETE: 3, GET: 7, POST: 9 }));
  const { status, proof } = await prove(program, [losing.url], '--deletions', '20');
  assert.deepEqual([status, proof.reason], [0, null], JSON.stringify(proof, undefined, 1));
  assert.ok((proof.report?.verifications.unknown ?? 0) > 0);
  assert.ok((proof.report?.deletions.unknown ?? 0) > 0);
  await assertNothingIsLeft(program, proof);
});

test('an instance that can’t be reached, or has another database, is named before anything is tried', async () => {
  await using program = await newProgram();
  await using stranger = await newProgram();
  const closed = 'http://127.0.0.1:1';
  const { status, proof } = await prove(program, [program.url, closed, stranger.url]);
  assert.equal(status, 1);
  assert.equal(proof.report, null);
  assert.match(
    proof.reason ?? '',
    new RegExp(
      `^${RegExp.escape(closed)} can’t be reached: .*ECONNREFUSED.*; ${RegExp.escape(stranger.url)} refuses a key that was just made .*: is its database the one of this configuration\\?$`,
    ),
  );
  await assertNothingIsLeft(program, proof);
});

test('instances that refuse each other’s access tokens are named, with the setting in which they differ', async () => {
  await using first = await newProgram();
  await using second = await startProgram(first.folder);
  const { status, proof } = await prove(first, [first.url, second.url]);
  assert.deepEqual(
    [status, proof.reason],
    [
      1,
      `${second.url} answers 401 to an access token of ${first.url}: have all instances the same KEYREEVE_PUBLIC_URL and KEYREEVE_AUDIENCE?`,
    ],
  );
  await assertNothingIsLeft(first, proof);
});

test('Ctrl-C ends it, and removes what it made', async () => {
  await using program = await newProgram();
  let isBusy: () => void = () => undefined;
  const busy = new Promise<void>((resolve) => (isBusy = resolve));
  let requests = 0;
  await using watched = await startFalseInstance(program.url, (_request, _body, ask) => {
    if (++requests === 200) isBusy();
    return ask();
  });
  const args = [keyreeveBin, 'prove-revocation', '--instances', watched.url, '--seconds', '600', '--json'];
  const child = spawn(process.execPath, args, { cwd: program.folder, env: environmentFor(program.folder) });
  await using command = new Program(child, program.folder);
  await Promise.race([busy, once(child, 'close')]);
  command.signal('SIGINT');
  const { status, stdout } = await command.exited(proofMsMax);
  const proof = JSON.parse(stdout) as Proof;
  assert.deepEqual([status, proof.isProven, proof.reason], [1, false, 'it was interrupted']);
  await assertNothingIsLeft(program, proof);
});
