/** An installation with audit events of chosen ages. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { databaseUrl } from '../../src/app/configuration/config-values.ts';
import { dayMs, systemClock, toInstant } from '../../src/foundation/clock.ts';
import { createFixedInstallation } from '../../test-kit/installation.ts';
import { deriveKeys } from '../../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import type { Db } from '../../src/foundation/database/db.ts';
import { recordEventsTx } from '../../src/modules/audit/audit.ts';
import { listAuditEvents } from '../../test-kit/audit-log.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder, type TempFolder } from '../../test-kit/temp-folder.ts';
import { runProgram, type Environment, type Exit } from './program.ts';

export const masterKey = Buffer.alloc(32, 3);

export const now = systemClock.now();

export const until = toInstant(now - 35 * dayMs);

export interface Installed extends AsyncDisposable {
  readonly db: Db;
  readonly folder: TempFolder;
  readonly environment: Environment;
  readonly run: (line: string, more?: Environment) => Promise<Exit>;
}

/** An installation with events of one account, by their ages in days. */
export async function install(agesDays: readonly number[]): Promise<Installed> {
  const folder = newTempFolder();
  const place = await newPlace();
  const environment = {
    ...place.environment,
    KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
    KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
  };
  const run = (line: string, more: Environment = {}) =>
    runProgram(line.split(' '), { folder: folder.path, environment: { ...environment, ...more } });
  await createFixedInstallation(place, masterKey);
  const migrated = await run('migrate');
  assert.equal(migrated.status, 0, migrated.stderr);
  const db = await openDatabase(databaseUrl(place.url), deriveKeys(masterKey).auditChain);
  for (let from = 0; from < agesDays.length; from += 1_000)
    await db.transaction((tx) =>
      recordEventsTx(
        tx,
        agesDays.slice(from, from + 1_000).map((age) => ({
          at: now - age * dayMs,
          principal: { kind: 'operator' },
          action: 'account.enabled',
          accountId: 'acc_ada',
          target: 'acc_ada',
        })),
      ),
    );
  return {
    db,
    folder,
    environment,
    run,
    async [Symbol.asyncDispose]() {
      await db.close();
      await place[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

export const agesIn = async (db: Db): Promise<number[]> =>
  (await listAuditEvents(db)).filter(({ action }) => action !== 'audit.cut').map(({ at }) => (now - at) / dayMs);

export function assertFailed({ status, stdout, stderr }: Exit, expected: number, reason: RegExp): void {
  assert.deepEqual([status, stdout], [expected, ''], stderr);
  assert.match(stderr, reason);
}
