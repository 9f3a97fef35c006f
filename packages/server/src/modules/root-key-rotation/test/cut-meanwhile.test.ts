/** A rotation of the root key that commits while a cut of the audit log runs. */
import assert from 'node:assert/strict';
import { operator } from '../../../../test-kit/new-app.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { openInstallation, type OpenedInstallation } from '../../../app/installation/installation.ts';
import { dayMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { isRootKeyChanged } from '../../../foundation/database/root-key-changed.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { AuditCutter } from '../../audit-retention/audit-cutter.ts';
import { recordEventsTx, type AuditEvent } from '../../audit/audit.ts';
import { listCuts } from '../../audit/cut-store.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { newRotatable, type Rotatable } from './rotation-kit.ts';

/** Opens the installation as a command does. */
const open = ({ config, clock }: Rotatable): Promise<OpenedInstallation> =>
  openInstallation(config, { clock, mayCreate: false });

const eventCount = 10;
const rowsPerCommitMax = 2;

/** Records events of one account that are old enough to be removed. */
const recordOld = ({ db }: OpenedInstallation, at: number): Promise<void> => {
  const event = {
    at,
    principal: operator,
    action: 'account.enabled',
    accountId: 'acc_ada',
    target: 'acc_ada',
  } as const;
  return db.transaction((tx) =>
    recordEventsTx(
      tx,
      Array.from({ length: eventCount }, (): AuditEvent => event),
    ),
  );
};

const countOld = sql<{ count: number }>('test_count_old', 'select count(*) as count from audit_events where at <= $1');

/** Calls `rotate` after the given number of commits has removed events, before the next transaction. */
const rotatingAfter = (db: Db, oldAt: number, commits: number, rotate: () => Promise<unknown>): Db => {
  let isRotated = false;
  return withTransaction(db, async (body, options) => {
    const count = (await db.get(countOld, [oldAt]))?.count ?? 0;
    if (!isRotated && count === eventCount - commits * rowsPerCommitMax) {
      isRotated = true;
      await rotate();
    }
    return db.transaction(body, options);
  });
};

for (const commits of [0, 2]) {
  testOnBoth(
    `a cut that a rotation overtakes after ${commits} commits fails, and the audit log is intact`,
    async () => {
      await using installation = await newRotatable();
      await using connections = new AsyncDisposableStack();
      const { clock } = installation;
      // Without an account, whose new events could precede the old ones in their chain.
      await installation.run(() => Promise.resolve());
      const oldAt = clock.now() - 100 * dayMs;
      const opened = await open(installation);
      connections.defer(() => opened.db.close());
      await recordOld(opened, oldAt);
      const db = rotatingAfter(opened.db, oldAt, commits, () => installation.rotate());
      const cutter = new AuditCutter({
        db,
        clock,
        keys: opened.keys,
        journal: undefined,
        rowsPerCommitMax,
        pauseMs: 0,
      });
      await assert.rejects(
        cutter.cut(operator, { eventsBefore: clock.now() - 50 * dayMs, days: 50 }),
        isRootKeyChanged,
      );
      const after = await open(installation);
      connections.defer(() => after.db.close());
      const { findings } = await after.db.snapshot((reader) =>
        verifyLog(reader, after.keys, { now: clock.now(), keptDays: 50 }),
      );
      assert.deepEqual(findings, []);
      assert.equal((await after.db.get(countOld, [oldAt]))?.count, eventCount - commits * rowsPerCommitMax);
      assert.equal((await listCuts(after.db)).length, commits > 0 ? 1 : 0);
      // The next run continues with the new key.
      const next = new AuditCutter({ db: after.db, clock, keys: after.keys, journal: undefined, pauseMs: 0 });
      const result = await next.cut(operator, { eventsBefore: clock.now() - 50 * dayMs, days: 50 });
      assert.equal(result.blocked, undefined);
      assert.ok(result.removed > 0);
      const verified = await after.db.snapshot((reader) =>
        verifyLog(reader, after.keys, { now: clock.now(), keptDays: 50 }),
      );
      assert.deepEqual(verified.findings, []);
    },
  );
}
