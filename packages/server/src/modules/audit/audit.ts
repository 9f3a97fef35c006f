/**
 * Audit events. The transaction of a change also writes its event, so there is no change without its event, and no
 * event without its change.
 */
import type { Principal } from '../../foundation/principal.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { appendAuditEventsTx, countEventsByTarget, type NewAuditRow } from './store.ts';

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
  | 'account.limits_set'
  | 'account.quota_reached'
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
  | 'account.entitlements_set'
  | 'service_account.created'
  | 'service_account.updated'
  /** Their target is `<id of the service account>/<id of the manager>`. */
  | 'service_account.manager_added'
  | 'service_account.manager_removed'
  | 'program.created'
  | 'program.updated'
  | 'program.removed'
  /** Their target is the id of the portal session. */
  | 'portal_session.created'
  | 'portal_session.ended'
  /** Of requests that wait for the approval of a person. */
  | 'approval.approved'
  | 'approval.denied'
  | 'scope.set'
  | 'scope.deleted'
  | 'session.created'
  | 'session.ended'
  | 'session.evicted'
  | 'session.reuse_detected'
  | 'second_factor.begun'
  | 'second_factor.added'
  | 'second_factor.removed'
  /** Of an account that keeps its passkeys as second factor. */
  | 'authenticator.removed'
  | 'passkey.added'
  | 'passkey.renamed'
  | 'passkey.removed'
  | 'passkey.counter_regressed'
  /** Their target is the id of the identity at the OpenID provider. */
  | 'identity.linked'
  | 'identity.unlinked'
  | 'recovery_codes.replaced'
  | 'recovery_code.used'
  | 'api_key.created'
  | 'api_key.deleted'
  | 'api_key.updated'
  | 'api_key.disabled'
  | 'api_key.enabled'
  | 'api_key.rotated'
  | 'api_key.previous_ended'
  | 'api_key.leaked'
  /** An administrator found the key by its secret. Changes nothing. */
  | 'api_key.identified'
  | 'api_key.expiring'
  | 'api_key.quota_reached'
  /** Their target is the id of the issuer. */
  | 'issuer.created'
  | 'issuer.updated'
  | 'issuer.removed'
  | 'issuer.refreshed'
  | 'signing_key.created'
  | 'signing_key.revoked'
  | 'webhook.created'
  | 'webhook.updated'
  | 'webhook.deleted'
  | 'webhook.disabled'
  | 'webhook.enabled'
  | 'webhook.secret_rotated'
  | 'webhook.replayed'
  /** The retention has removed the events before the time in the details. */
  | 'audit.cut'
  /** `keyreeve apply`. The target is `<generation>/<digest of the file>`. */
  | 'installation.file_applied'
  | 'installation.journal_replayed'
  /** A rotation of the master key: both master keys open the installation until it is finished or cancelled. */
  | 'installation.master_key_rotation_started'
  | 'installation.master_key_rotation_finished'
  | 'installation.master_key_rotation_cancelled'
  | 'installation.moved'
  | 'installation.restored'
  /** The root key has changed. Earlier events have the key of an earlier version. */
  | 'installation.root_key_rotated';

export interface AuditEvent {
  readonly at: number;
  readonly principal: Principal;
  readonly action: AuditAction;
  readonly accountId?: string;
  /** Id of the changed object. */
  readonly target?: string;
  /** Never contains a secret or an email address. */
  readonly details?: AuditDetails;
}

/** Stored as JSON. Not `object`, which a secret or a Buffer would also be. */
export type AuditDetails = Readonly<Record<string, AuditValue>>;
type AuditValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly AuditValue[]
  | { readonly [name: string]: AuditValue };

/** An event whose details depend on a statement of the same turn. */
export type NewAuditEvent = Omit<AuditEvent, 'details'> & { readonly details?: AuditDetails | Promise<AuditDetails> };

/**
 * Records an event in the transaction of its change. Call it after the statements that lock the rows of the change, or in
 * the same turn: it locks the account's chain until the transaction ends.
 * @throws the error of the details
 */
export const recordEventTx = (tx: Transaction, event: NewAuditEvent): Promise<void> => recordEventsTx(tx, [event]);

/**
 * Records events of several accounts. Call it once, at the end of a transaction: two calls could cause a deadlock.
 * @param events a few thousand at most, in the order in which they happened
 */
export const recordEventsTx = (tx: Transaction, events: readonly NewAuditEvent[]): Promise<void> =>
  appendAuditEventsTx(tx, events.map(rowOf));

/** An event that concerns an account itself: the account is its target too. */
export type AccountEvent = Omit<AuditEvent, 'target'> & { readonly accountId: string };

export const recordAccountEventTx = (tx: Transaction, event: AccountEvent): Promise<void> =>
  recordEventTx(tx, { ...event, target: event.accountId });

/**
 * `account:<id>`, `key:<id>` for a management key or a canary credential, `portal:<id>` for a portal session, or the kind of the
 * principal.
 */
function actorOf(principal: Principal): string {
  if (principal.kind === 'account') return `account:${principal.accountId}`;
  if (principal.kind === 'program') return `program:${principal.programId}`;
  if (principal.kind === 'portal') return `portal:${principal.sessionId}`;
  return principal.kind === 'key' || principal.kind === 'canary' ? `key:${principal.keyId}` : principal.kind;
}

function rowOf({ at, principal, action, accountId, target, details }: NewAuditEvent): NewAuditRow {
  const toText = (given: AuditDetails | undefined): string | null => detailsOf(principal, given);
  return {
    at,
    actor: actorOf(principal),
    action,
    accountId: accountId ?? null,
    target: target ?? null,
    details: details instanceof Promise ? details.then(toText) : toText(details),
  };
}

/** With the person that uses a portal session, as the backend of the host stated it. */
function detailsOf(principal: Principal, details: AuditDetails | undefined): string | null {
  const person = principal.kind === 'portal' ? principal.person : null;
  const all = person === null ? details : { ...details, person: { id: person.id, name: person.name } };
  return all ? JSON.stringify(all) : null;
}

/** @returns by key id: the number of deletions of the account's key in the audit log; only keys with a deletion */
export async function countKeyDeletions(db: Db, accountId: string): Promise<ReadonlyMap<number, number>> {
  const counts = await countEventsByTarget(db, accountId, 'api_key.deleted' satisfies AuditAction);
  return new Map([...counts].map(([target, count]) => [Number(target), count]));
}
