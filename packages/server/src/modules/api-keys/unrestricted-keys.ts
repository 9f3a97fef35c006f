/**
 * Disables keys whose restrictions are missing: an earlier program has restored or moved them, and omitted the columns.
 * Verification rejects them already; after this, the list of keys and the audit log agree.
 */
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { recordEventsTx, type AuditEvent } from '../audit/audit.ts';
import { disableUnrestrictedKeysTx, hasUnrestrictedKeys } from './bulk-store.ts';

const eventsPerCall = 1_000;

/** At the start of the service. @throws DomainError `unavailable` */
export async function disableUnrestricted(db: Db, clock: Clock): Promise<void> {
  if (await hasUnrestrictedKeys(db))
    await db.transaction((tx) => disableUnrestrictedTx(tx, clock.now()), { isLong: true });
}

/** @returns the number of keys */
export async function disableUnrestrictedTx(tx: Transaction, now: number): Promise<number> {
  const disabled = await disableUnrestrictedKeysTx(tx, now);
  const events = disabled.map(({ id, accountId, reason, at }): AuditEvent => {
    const details = { by: 'restore', reason };
    return { at, principal: { kind: 'system' }, action: 'api_key.disabled', accountId, target: String(id), details };
  });
  for (let from = 0; from < events.length; from += eventsPerCall)
    await recordEventsTx(tx, events.slice(from, from + eventsPerCall));
  return events.length;
}
