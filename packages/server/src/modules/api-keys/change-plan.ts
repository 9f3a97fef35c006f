/** Plans a change of a key: the changed row, the audit events, the statements, the entries of the deletion journal. */
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AuditEvent } from '../audit/audit.ts';
import type { ChangeKind } from '../deletion-journal/revocation.ts';
import { toLimits } from '../key-limits/definition.ts';
import { storeChangeTx, type KeyDetailsRow } from './change-store.ts';
import { changedMembers, narrowedMembers, type ChangedMember } from './narrowing.ts';
import { splitScopes } from './scopes.ts';

/** How a narrowing change (one that removes rights) is recorded in the deletion journal. */
type KeyChangeKind = Extract<ChangeKind, 'api_key_narrowed' | 'api_key_disabled_by_administrator'>;
/** Of a change that always removes rights. */
export const narrowing = ['api_key_narrowed'] as const;

type KeyEvent = Pick<AuditEvent, 'action' | 'details'>;

/** A change that is computed but not yet stored. */
export interface Plan {
  readonly after: KeyDetailsRow;
  /** Empty if the change removes no rights. */
  readonly narrowing: readonly KeyChangeKind[];
  readonly events: readonly KeyEvent[];
  /** Issues the statements. The key is locked. */
  readonly storeTx: (tx: Transaction) => Promise<void> | undefined;
}

/** What every change sets. */
export const versionOf = (
  { revision }: KeyDetailsRow,
  updatedAt: number,
): Pick<KeyDetailsRow, 'revision' | 'updatedAt'> => ({
  revision: revision + 1,
  updatedAt,
});

/** @returns undefined if nothing changes */
export function planChange(before: KeyDetailsRow, after: KeyDetailsRow): Plan | undefined {
  const changed = changedMembers(before, after);
  if (changed.length === 0) return undefined;
  const narrowed = narrowedMembers(before, after);
  const { nickname, disabledReason: reason } = after;
  const others = changed.filter((member) => member !== 'disabled');
  const events: KeyEvent[] = [];
  if (others.length > 0) {
    const scopes = changed.includes('scopes')
      ? { scopesBefore: splitScopes(before.scopes), scopes: splitScopes(after.scopes) }
      : {};
    const ofLimits = changed.includes('limits')
      ? { limitsBefore: toLimits(before.limits), limits: toLimits(after.limits) }
      : {};
    const details = { nickname, changed: others, narrowed: narrowed.filter((name) => name !== 'disabled') };
    events.push({ action: 'api_key.updated', details: { ...details, ...scopes, ...ofLimits } });
  }
  if (changed.includes('disabled'))
    events.push(
      reason === null
        ? { action: 'api_key.enabled', details: { nickname } }
        : { action: 'api_key.disabled', details: { nickname, reason } },
    );
  const update = async (tx: Transaction): Promise<void> => {
    if (!(await storeChangeTx(tx, after))) throw new DomainError('nickname_taken');
  };
  return { after, narrowing: kindsOf(narrowed, after), events, storeTx: update };
}

/** An entry for each of the change's audit events. */
const kindsOf = (narrowed: readonly ChangedMember[], { disabledReason }: KeyDetailsRow): KeyChangeKind[] => [
  ...new Set(
    narrowed.map((name) =>
      name === 'disabled' && disabledReason === 'administrator'
        ? 'api_key_disabled_by_administrator'
        : 'api_key_narrowed',
    ),
  ),
];
