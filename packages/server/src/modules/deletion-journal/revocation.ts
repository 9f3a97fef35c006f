/** What the journal of deletions holds, and what the slices know of it. */
import type { AuditAction } from '../audit/audit.ts';
import type { RevocationEvent } from '../audit/store.ts';

/** Of the files that every version reads. */
const deletionKinds = ['api_key', 'account', 'account_disabled', 'account_enabled', 'signing_key'] as const;
/**
 * Changes that take rights away and that a later change of the same account or endpoint replaces: each applies to what is older than
 * it. They are in files of their own, which version 0.1.0 doesn't read.
 */
export const changeKinds = [
  'role_removed',
  'password_changed',
  'email_changed',
  'second_factor_removed',
  'recovery_codes_replaced',
  'recovery_code_used',
  'second_factor_required',
  'webhook_disabled',
  'webhook_deleted',
] as const;
const kinds = [...deletionKinds, ...changeKinds];

export type ChangeKind = (typeof changeKinds)[number];
/** `account_enabled` takes an `account_disabled` back; nothing takes deletions back. */
export type RevocationKind = (typeof deletionKinds)[number] | ChangeKind;

/** Those that nothing takes back. */
export type FinalKind = 'api_key' | 'account' | 'signing_key';

export const isChange = (kind: RevocationKind): kind is ChangeKind => changeKinds.some((known) => known === kind);

export const isFinal = (kind: RevocationKind): kind is FinalKind => !isAbility(kind) && !isChange(kind);

export interface Revocation {
  readonly kind: RevocationKind;
  /** Of what was deleted, or of the account or webhook endpoint; of `recovery_code_used` the keyed hash of the code, in hexadecimal. */
  readonly id: string;
  /** Milliseconds. */
  readonly at: number;
  /** Its id in the audit trail, where the order counts: of disabling and enabling. */
  readonly event?: number;
}

export interface Revocations {
  /**
   * Resolves once it will outlive the database: called after the commit and before the answer.
   * @throws DomainError `unavailable`; what was revoked stays so
   */
  record(revocations: readonly Revocation[]): Promise<void>;
  /**
   * The same for what a transaction has changed of an account: its audit events say what it was.
   * @param at the time of the transaction, in milliseconds
   * @throws DomainError `unavailable`; the change holds
   */
  recordChanges(accountId: string, at: number): Promise<void>;
  /** For a change whose outcome was unknown: only the audit trail knows what happened. */
  catchUpSoon(): void;
}

/** Whether a line of a journal file is one that this version writes. A newer version may write other kinds. */
export function isRevocation(value: unknown): value is Revocation {
  const { kind, id, at, event } = (value ?? {}) as Partial<Revocation>;
  return (
    kinds.some((known) => known === kind) &&
    typeof id === 'string' &&
    Number.isSafeInteger(at) &&
    (event === undefined || Number.isSafeInteger(event))
  );
}

const kindOfAction: Partial<Record<AuditAction, RevocationKind>> = {
  'api_key.deleted': 'api_key',
  'account.deleted': 'account',
  'account.disabled': 'account_disabled',
  'account.enabled': 'account_enabled',
  'signing_key.revoked': 'signing_key',
  'account.password_set': 'password_changed',
  'account.compromised': 'password_changed',
  'account.password_voided': 'password_changed',
  'account.email_changed': 'email_changed',
  'second_factor.removed': 'second_factor_removed',
  'recovery_codes.replaced': 'recovery_codes_replaced',
  'account.second_factor_required': 'second_factor_required',
  'webhook.disabled': 'webhook_disabled',
  'webhook.deleted': 'webhook_deleted',
};

/** Empty for an event of another kind. */
export function revocationsOf(event: RevocationEvent): Revocation[] {
  const { id, at, target } = event;
  // The address from before is back, and the password is void.
  if (event.action === 'account.email_change_undone')
    return (['email_changed', 'password_changed'] as const).map((kind) => ({ kind, id: target, at }));
  const kind = kindOfAction[event.action as AuditAction] ?? kindByDetails(event);
  if (kind === undefined) return [];
  if (kind === 'recovery_code_used') return [{ kind, id: String(detailOf(event, 'code')), at }];
  return [isAbility(kind) ? { kind, id: target, at, event: id } : { kind, id: target, at }];
}

function kindByDetails(event: RevocationEvent): RevocationKind | undefined {
  if (event.action === 'account.role_changed') return detailOf(event, 'role') === 'user' ? 'role_removed' : undefined;
  if (event.action !== 'recovery_code.used') return undefined;
  // Events of version 0.1.0 don't say which code was used: all codes of that time may be it.
  return detailOf(event, 'code') === undefined ? 'recovery_codes_replaced' : 'recovery_code_used';
}

const detailOf = ({ details }: RevocationEvent, name: string): unknown =>
  (JSON.parse(details ?? '{}') as Record<string, unknown>)[name];

/** Two that say the same have the same. */
export const identityOf = ({ kind, id, at, event = 0 }: Revocation): string => {
  if (isAbility(kind)) return `${kind} ${id} ${event}`;
  return isChange(kind) ? `${kind} ${id} ${at}` : `${kind} ${id}`;
};

const isAbility = (kind: RevocationKind): kind is 'account_disabled' | 'account_enabled' =>
  kind === 'account_disabled' || kind === 'account_enabled';
