/** Installations with a fixed root key, whose keys tests can therefore derive. */
import { databaseUrl } from '../src/app/configuration/config-values.ts';
import { deriveKeys } from '../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { claimInstallationTx, isInstallationOf } from '../src/foundation/database/installation.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { insertRootKeyTx } from '../src/foundation/database/root-keys.ts';
import { FakeClock } from './fake-clock.ts';
import { fixedRootKeys } from './fixed-root-keys.ts';
import type { DatabasePlace } from './new-db.ts';

/** Claims an empty database. Its root keys are not stored. @returns whether the database belongs to the root key */
export async function claimInstallation(db: Db, masterKeyCheck: Buffer, now: number): Promise<boolean> {
  await db.transaction((tx) => claimInstallationTx(tx, masterKeyCheck, now));
  return (await isInstallationOf(db, masterKeyCheck)) === true;
}

/** Claims an empty database for an installation whose root key equals its master key. */
export const claimFixedInstallation = (db: Db, masterKey: Buffer, now: number): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await claimInstallationTx(tx, deriveKeys(masterKey).check, now))) return;
    for (const row of fixedRootKeys(masterKey, now).rows) await insertRootKeyTx(tx, row);
  });

/** The same in a database without a schema, which is opened for this call only. */
export async function createFixedInstallation({ url }: Pick<DatabasePlace, 'url'>, masterKey: Buffer): Promise<void> {
  const clock = new FakeClock();
  const db = await openDatabase(databaseUrl(url), deriveKeys(masterKey).auditChain);
  try {
    await migrate(db, clock);
    await claimFixedInstallation(db, masterKey, clock.now());
  } finally {
    await db.close();
  }
}
