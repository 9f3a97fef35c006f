/**
 * Disables the keys of a restored backup whose restrictions it may lack: the program that made it did not know the rules that
 * they need, and omitted columns that it did not know.
 */
import type { Transaction } from '../../foundation/database/db.ts';
import { recordEventsTx, type AuditEvent } from '../audit/audit.ts';
import { disableKeysBeyondTx } from './bulk-store.ts';

/** Bounds the memory that many such keys take. */
const keysPerStatement = 1_000;

/** @param rules the newest version that the program knew @returns the number of keys */
export async function disableBeyondTx(
  tx: Transaction,
  rules: number,
  now: number,
  keysMax = keysPerStatement,
): Promise<number> {
  for (let count = 0; ;) {
    const disabled = await disableKeysBeyondTx(tx, rules, now, keysMax);
    const details = { by: 'restore', reason: 'restore' };
    const events = disabled.map(({ id, accountId, at }): AuditEvent => {
      const target = String(id);
      return { at, principal: { kind: 'system' }, action: 'api_key.disabled', accountId, target, details };
    });
    await recordEventsTx(tx, events);
    count += disabled.length;
    if (disabled.length < keysMax) return count;
  }
}
