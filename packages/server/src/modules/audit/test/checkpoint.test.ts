/** Checkpoints of the audit log are written to the log, which an attacker with the database cannot change. */
import assert from 'node:assert/strict';
import { findCheckpoints } from '../chain.ts';
import { verifyLog } from '../verify-log.ts';
import { openDatabase } from '../../../foundation/database/database.ts';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { Housekeeping } from '../../../app/processes/housekeeping.ts';
import { createLog } from '../../../foundation/log.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const checkpointsIn = (lines: readonly string[]) =>
  lines
    .map((line) => JSON.parse(line) as { event?: string; checkpoint?: string; events?: number })
    .filter(({ event }) => event === 'audit_checkpoint');

test('a service that stops logs a checkpoint, which the audit log contains', { tags: ['asvs:16.4.3'] }, async () => {
  await using place = await newPlace();
  const app = await newApp({ place });
  await app.signIn();
  const { keys } = app.installation;
  await app[Symbol.asyncDispose]();
  const logged = checkpointsIn(app.logLines);
  assert.equal(logged.length, 1);
  // The events of the signing key, the account and its session.
  assert.equal(logged[0]?.events, 3);

  const db = await openDatabase(databaseUrl(place.url), keys.auditChain);
  try {
    const checkpoints = findCheckpoints(app.logLines.join(''));
    const verified = await db.snapshot((reader) => verifyLog(reader, keys, { now: app.clock.now(), checkpoints }));
    assert.deepEqual([verified.findings, verified.checkpointsHeld], [[], 1]);
    assert.deepEqual([verified.checkpoint, checkpoints[0]?.text], [logged[0]?.checkpoint, logged[0]?.checkpoint]);
  } finally {
    await db.close();
  }
});

test('a checkpoint is logged again only after a change', async () => {
  await using app = await newApp();
  const { services } = app.service;
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const core = { ...app.installation, clock: app.clock, log };
  const housekeeping = new Housekeeping(core, services);
  const counts: unknown[] = [];
  for (const change of [false, false, true, false]) {
    if (change) await app.createAccount();
    await housekeeping.stop();
    counts.push(checkpointsIn(lines.splice(0)).map(({ events }) => events));
  }
  assert.deepEqual(counts, [[1], [], [2], []]);
});
