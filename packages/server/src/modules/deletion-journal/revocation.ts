/** The entries of the deletion journal, and the interface through which other modules write them. */
import type { AuditAction } from '../audit/audit.ts';
import type { Core } from '../../foundation/core.ts';
import type { RevocationEvent } from '../audit/store.ts';

const deletionKinds = ['api_key', 'account', 'account_disabled', 'account_enabled', 'signing_key'] as const;
/**
 * Changes that remove rights. A later change of the same account or endpoint replaces them; each change of a key counts
 * (`store.ts`). Append only: positions store the length.
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
  'api_key_narrowed',
  'api_key_disabled_by_administrator',
  'entitlements_removed',
  'scope_entitled',
  'scope_deleted',
  'manager_removed',
  'secret_leaked',
  'authenticator_removed',
  'passkey_removed',
  'identity_unlinked',
  'file_applied',
  'issuer_narrowed',
  'issuer_removed',
] as const;
const kinds = [...deletionKinds, ...changeKinds];

export type ChangeKind = (typeof changeKinds)[number];
/** `account_enabled` reverses `account_disabled`. A deletion cannot be reversed. */
export type RevocationKind = (typeof deletionKinds)[number] | ChangeKind;

/** Deletions and revocations that cannot be reversed. */
export type FinalKind = 'api_key' | 'account' | 'signing_key';

export const isChange = (kind: RevocationKind): kind is ChangeKind => changeKinds.some((known) => known === kind);

export const isFinal = (kind: RevocationKind): kind is FinalKind => !isAbility(kind) && !isChange(kind);

export interface Revocation {
  readonly kind: RevocationKind;
  /**
   * Id of the deleted or changed object. For `recovery_code_used`: the keyed hash of the
   * recovery code, in hexadecimal. For `manager_removed`: the ids of the service account and of the manager, with a
   * slash between them. For `file_applied`: the generation and the digest of the file, with a slash between them; files of
   * earlier generations are rejected afterwards. For `secret_leaked`: the stored hash of the secret, in lower-case hexadecimal.
   */
  readonly id: string;
  /** In milliseconds. */
  readonly at: number;
  /** Id of the audit event. Only for disabling and enabling, whose order matters. */
  readonly event?: number;
}

export const keyDeletions = (ids: readonly number[], at: number): Revocation[] =>
  ids.map((id) => ({ kind: 'api_key', id: String(id), at }));

export interface Revocations {
  /**
   * Resolves after the entries are on the disk. Called after the commit and before the response.
   * @throws DomainError `unavailable`; the revocation stays in force
   */
  record(revocations: readonly Revocation[]): Promise<void>;
  /**
   * Records all changes of an account by one transaction, which it reads from the audit events.
   * @param at the time of the transaction, in milliseconds
   * @throws DomainError `unavailable`; the change holds
   */
  recordChanges(accountId: string, at: number): Promise<void>;
  /** Schedules catching up after a change of unknown outcome: the audit log shows whether it was committed. */
  catchUpSoon(): void;
}

/** Whether a line has a kind that this version knows. A newer version may write other kinds. */
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
  'authenticator.removed': 'authenticator_removed',
  'passkey.removed': 'passkey_removed',
  'identity.unlinked': 'identity_unlinked',
  'installation.file_applied': 'file_applied',
  'recovery_codes.replaced': 'recovery_codes_replaced',
  'recovery_code.used': 'recovery_code_used',
  'account.second_factor_required': 'second_factor_required',
  'webhook.disabled': 'webhook_disabled',
  'webhook.deleted': 'webhook_deleted',
  'api_key.disabled': 'api_key_narrowed',
  'api_key.rotated': 'api_key_narrowed',
  'api_key.previous_ended': 'api_key_narrowed',
  'api_key.leaked': 'secret_leaked',
  'scope.deleted': 'scope_deleted',
  'service_account.manager_removed': 'manager_removed',
  'issuer.removed': 'issuer_removed',
};

/** @returns the journal's entries for an audit event; none for an event that removes no rights */
export function revocationsOf(event: RevocationEvent): Revocation[] {
  const { id, at, target } = event;
  // The previous email address is restored, and the password is void.
  if (event.action === 'account.email_change_undone')
    return (['email_changed', 'password_changed'] as const).map((kind) => ({ kind, id: target, at }));
  const kind = kindOfAction[event.action as AuditAction] ?? kindByDetails(event);
  if (kind === undefined) return [];
  // After a restore, the owner cannot enable such a key either.
  if (event.action === 'api_key.disabled' && detailOf(event, 'reason') === 'administrator')
    return [{ kind: 'api_key_disabled_by_administrator', id: target, at }];
  if (kind === 'recovery_code_used') return [{ kind, id: String(detailOf(event, 'code')), at }];
  if (kind === 'secret_leaked') return [{ kind, id: String(detailOf(event, 'hash')), at }];
  return [isAbility(kind) ? { kind, id: target, at, event: id } : { kind, id: target, at }];
}

function kindByDetails(event: RevocationEvent): RevocationKind | undefined {
  if (event.action === 'api_key.updated') {
    return isEmpty(detailOf(event, 'narrowed')) ? undefined : 'api_key_narrowed';
  }
  // The journal has no URLs, so a restored endpoint with the earlier URL or events sends nothing.
  if (event.action === 'webhook.updated') return isEmpty(detailOf(event, 'narrowed')) ? undefined : 'webhook_disabled';
  if (event.action === 'account.entitlements_set')
    return isEmpty(detailOf(event, 'removed')) ? undefined : 'entitlements_removed';
  if (event.action === 'issuer.updated') return isEmpty(detailOf(event, 'narrowed')) ? undefined : 'issuer_narrowed';
  if (event.action === 'scope.set') return isEmpty(detailOf(event, 'narrowed')) ? undefined : 'scope_entitled';
  if (event.action === 'account.role_changed') return detailOf(event, 'role') === 'user' ? 'role_removed' : undefined;
  return undefined;
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0;

const detailOf = ({ details }: RevocationEvent, name: string): unknown =>
  (JSON.parse(details ?? '{}') as Record<string, unknown>)[name];

/** Equal entries have the same identity. */
export const identityOf = ({ kind, id, at, event = 0 }: Revocation): string => {
  if (isAbility(kind)) return `${kind} ${id} ${event}`;
  return isChange(kind) ? `${kind} ${id} ${at}` : `${kind} ${id}`;
};

const isAbility = (kind: RevocationKind): kind is 'account_disabled' | 'account_enabled' =>
  kind === 'account_disabled' || kind === 'account_enabled';

/** What a class takes whose changes can remove rights. */
export interface RecordingCore extends Core {
  /** Undefined without a deletion journal. */
  readonly revocations: Revocations | undefined;
}
