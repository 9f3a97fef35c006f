/** What the journal of deletions holds, and what the slices know of it. */
import type { AuditAction } from '../audit/audit.ts';
import type { RevocationEvent } from '../audit/store.ts';

const kinds = ['api_key', 'account', 'account_disabled', 'account_enabled', 'signing_key'] as const;
/** `account_enabled` takes an `account_disabled` back; nothing takes the others back. */
export type RevocationKind = (typeof kinds)[number];

/** Those that nothing takes back. */
export type FinalKind = 'api_key' | 'account' | 'signing_key';

export const isFinal = (kind: RevocationKind): kind is FinalKind => !isAbility(kind);

export interface Revocation {
  readonly kind: RevocationKind;
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
  /** For a change whose outcome was unknown: only the audit trail knows what happened. */
  lookSoon(): void;
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
};

/** Empty for an event of another kind. */
export function revocationsOf({ id, at, action, target }: RevocationEvent): Revocation[] {
  const kind = kindOfAction[action as AuditAction];
  if (kind === undefined) return [];
  return [isAbility(kind) ? { kind, id: target, at, event: id } : { kind, id: target, at }];
}

/** Two that say the same have the same. */
export const identityOf = ({ kind, id, event = 0 }: Revocation): string =>
  isAbility(kind) ? `${kind} ${id} ${event}` : `${kind} ${id}`;

const isAbility = (kind: RevocationKind): kind is 'account_disabled' | 'account_enabled' =>
  kind === 'account_disabled' || kind === 'account_enabled';
