/** Makes refresh tokens of a running program old enough for a rotation, because tests cannot change its clock. */
import { limits } from '@keyreeve/contract';
import { databaseUrl } from '../src/app/configuration/config-values.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import { sql } from '../src/foundation/database/sql.ts';
import { testKeys } from './new-db.ts';

const age = sql('test_age_sessions', 'update sessions set rotated_at = rotated_at - $1');

/** @param url the database URL of the program */
export async function ageSessions(url: string): Promise<void> {
  const db = await openDatabase(databaseUrl(url), testKeys.auditChain);
  try {
    await db.transaction((tx) => tx.run(age, [limits.refreshReuseSeconds * 1000]));
  } finally {
    await db.close();
  }
}
