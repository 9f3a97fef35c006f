/**
 * Disables keys whose restrictions are missing: an earlier program has restored or moved them, and omitted the columns.
 * Verification rejects them already; after this, the list of keys and the audit log agree.
 */
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { recordEventsTx, type AuditEvent } from '../audit/audit.ts';
import { disableUnrestrictedKeysTx, hasUnrestrictedKeys } from './bulk-store.ts';

/** Bounds the memory that many such keys take. */
const keysPerStatement = 1_000;

/** At the start of the service, in short commits. @throws DomainError `unavailable` */
export async function disableUnrestricted(db: Db, clock: Clock): Promise<void> {
  while (await hasUnrestrictedKeys(db)) await db.transaction((tx) => disableSomeTx(tx, clock.now(), keysPerStatement));
}

/** For a transaction that has the database for itself, such as a restore. @returns the number of keys */
export async function disableUnrestrictedTx(tx: Transaction, now: number, keysMax = keysPerStatement): Promise<number> {
  for (let count = 0; ;) {
    const disabled = await disableSomeTx(tx, now, keysMax);
    count += disabled;
    if (disabled < keysMax) return count;
  }
}

async function disableSomeTx(tx: Transaction, now: number, keysMax: number): Promise<number> {
  const disabled = await disableUnrestrictedKeysTx(tx, now, keysMax);
  const events = disabled.map(({ id, accountId, reason, at }): AuditEvent => {
    const details = { by: 'restore', reason };
    return { at, principal: { kind: 'system' }, action: 'api_key.disabled', accountId, target: String(id), details };
  });
  await recordEventsTx(tx, events);
  return events.length;
}
