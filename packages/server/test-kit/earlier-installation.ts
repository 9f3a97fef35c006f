/** An installation as an earlier program creates it: all keys derive from the master key, which tests can therefore choose. */
import { databaseUrl } from '../src/app/config-values.ts';
import { deriveKeys } from '../src/foundation/crypto/master-key.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import { claimInstallation } from '../src/foundation/database/installation.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { FakeClock } from './fake-clock.ts';
import type { DatabasePlace } from './new-db.ts';

/** Claims the database for the master key, unless it belongs to an installation. */
export async function claimAsEarlier({ url }: Pick<DatabasePlace, 'url'>, masterKey: Buffer): Promise<void> {
  const { auditChain, check } = deriveKeys(masterKey);
  const clock = new FakeClock();
  const db = await openDatabase(databaseUrl(url), auditChain);
  try {
    await migrate(db, clock);
    await claimInstallation(db, check, clock.now());
  } finally {
    await db.close();
  }
}
