/**
 * The record of what changed. A row is written in the same transaction as the change it records:
 * there is no change without its row, and no row without its change.
 */
import type { Principal } from '../../foundation/principal.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import type { AuditRow } from './chain.ts';
import { appendAuditEventsTx, countEventsByTarget, listNewestEvents } from './store.ts';

export type AuditAction =
  | 'account.created'
  | 'account.deleted'
  | 'account.disabled'
  | 'account.enabled'
  | 'account.password_set'
  | 'account.password_rehashed'
  | 'account.password_voided'
  | 'account.invited'
  | 'account.role_changed'
  | 'account.sessions_ended'
  | 'account.second_factor_required'
  | 'account.second_factor_waived'
  | 'account.password_reset_requested'
  | 'account.verification_requested'
  | 'account.verified'
  | 'account.email_change_requested'
  | 'account.email_changed'
  | 'account.language_changed'
  | 'account.email_change_undone'
  | 'account.email_confirmation_required'
  | 'account.email_confirmed'
  | 'account.compromised'
  | 'session.created'
  /** In events of earlier versions only: a refresh is not recorded any more (docs/audit.md). */
  | 'session.refreshed'
  | 'session.ended'
  | 'session.evicted'
  | 'session.reuse_detected'
  | 'second_factor.begun'
  | 'second_factor.added'
  | 'second_factor.removed'
  | 'recovery_codes.replaced'
  | 'recovery_code.used'
  | 'api_key.created'
  | 'api_key.deleted'
  | 'signing_key.created'
  | 'signing_key.revoked'
  | 'webhook.created'
  | 'webhook.deleted'
  | 'webhook.disabled'
  | 'webhook.enabled'
  | 'webhook.secret_rotated'
  | 'installation.journal_replayed'
  | 'installation.moved'
  | 'installation.restored';

export interface AuditEvent {
  readonly at: number;
  readonly principal: Principal;
  readonly action: AuditAction;
  readonly accountId?: string;
  /** Id of what it was done to. */
  readonly target?: string;
  /** Never a secret, never an email. */
  readonly details?: Readonly<Record<string, string | number | readonly string[]>>;
}

/**
 * In the transaction of the change, after the rows that the change locks: until that ends, nothing else of the
 * account's chain is recorded.
 */
export const recordEventTx = (tx: Transaction, event: AuditEvent): Promise<void> => recordEventsTx(tx, [event]);

/**
 * Events of several accounts in one transaction: all together and last in it, so that it waits for no other that waits
 * for it.
 * @param events some thousands at most, in the order in which they happened
 */
export const recordEventsTx = (tx: Transaction, events: readonly AuditEvent[]): Promise<void> =>
  appendAuditEventsTx(tx, events.map(rowOf));

/** An event that concerns an account itself: the account is its target too. */
export const recordAccountEventTx = (
  tx: Transaction,
  principal: Principal,
  action: AuditAction,
  id: string,
  at: number,
  details?: NonNullable<AuditEvent['details']>,
): Promise<void> =>
  recordEventTx(tx, { at, principal, action, accountId: id, target: id, ...(details ? { details } : {}) });

const rowOf = ({ at, principal, action, accountId, target, details }: AuditEvent): AuditRow => ({
  at,
  actor: principal.kind === 'account' ? `account:${principal.accountId}` : principal.kind,
  action,
  accountId: accountId ?? null,
  target: target ?? null,
  details: details ? JSON.stringify(details) : null,
});

/** How many deletions of each of an account's keys the trail records, by the key's id. Keys without any are left out. */
export async function countKeyDeletions(db: Db, accountId: string): Promise<ReadonlyMap<number, number>> {
  const counts = await countEventsByTarget(db, accountId, 'api_key.deleted' satisfies AuditAction);
  return new Map([...counts].map(([target, count]) => [Number(target), count]));
}

/** An event as the trail tells it. */
export interface RecordedEvent extends AuditRow {
  readonly id: number;
}

export interface EventQuery {
  readonly accountId?: string | undefined;
  /** Only events with a lower id: the last of the page before. */
  readonly before?: number | undefined;
  /** How many at most. */
  readonly limit: number;
}

/** Newest first. */
export async function listEvents(
  reader: Reader,
  { accountId, before = Number.MAX_SAFE_INTEGER, limit }: EventQuery,
): Promise<RecordedEvent[]> {
  const rows = await listNewestEvents(reader, accountId, before, limit);
  return rows.map(({ chain: _chain, position: _position, mac: _mac, ...event }) => event);
}
