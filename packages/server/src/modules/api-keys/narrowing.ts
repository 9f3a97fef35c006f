/** Compares a key before and after a change: which members differ, and which of them remove rights (narrow the key). */
import type { KeyDetailsRow } from './change-store.ts';
import { hasReservedScope, splitScopes } from './scopes.ts';

/** The members of a change, by their names in requests. */
export type ChangedMember = 'nickname' | 'scopes' | 'expiresAt' | 'disabled' | 'addresses' | 'limits' | 'metadata';

type Compare = (before: KeyDetailsRow, after: KeyDetailsRow) => boolean;

const differs: Readonly<Record<ChangedMember, Compare>> = {
  nickname: (before, after) => before.nickname !== after.nickname,
  scopes: (before, after) => before.scopes !== after.scopes,
  expiresAt: (before, after) => before.expiresAt !== after.expiresAt,
  disabled: (before, after) => before.disabledReason !== after.disabledReason,
  addresses: (before, after) => before.addresses !== after.addresses,
  limits: (before, after) => before.limits !== after.limits,
  metadata: (before, after) => before.metadata !== after.metadata,
};

const narrows: Readonly<Record<ChangedMember, Compare>> = {
  nickname: () => false,
  scopes: (before, after) => {
    const kept = new Set(after.scopes.split(' '));
    return before.scopes !== '' && before.scopes.split(' ').some((scope) => !kept.has(scope));
  },
  expiresAt: (before, after) => after.expiresAt !== null && after.expiresAt < (before.expiresAt ?? Infinity),
  // Another reason can remove the owner's right to enable the key.
  disabled: (before, after) => after.disabledAt !== null && before.disabledReason !== after.disabledReason,
  // The ranges themselves are not compared: it is safe to treat every change to other ranges as narrowing.
  addresses: (before, after) => after.addresses !== null && before.addresses !== after.addresses,
  // Limits decide how often a key is accepted, not by whom and for what (decision 5).
  limits: () => false,
  metadata: () => false,
};

const members = Object.keys(differs) as ChangedMember[];

export const changedMembers: (before: KeyDetailsRow, after: KeyDetailsRow) => ChangedMember[] = (before, after) =>
  members.filter((member) => differs[member](before, after));

export const narrowedMembers: (before: KeyDetailsRow, after: KeyDetailsRow) => ChangedMember[] = (before, after) =>
  members.filter((member) => narrows[member](before, after));

/** Whether the secret of the key becomes valid again, for longer, or for other client IPs. Scopes are not compared. */
export const isWidened = (before: KeyDetailsRow, after: KeyDetailsRow): boolean =>
  (after.expiresAt ?? Infinity) > (before.expiresAt ?? Infinity) ||
  (after.disabledAt === null && before.disabledAt !== null) ||
  (before.addresses !== null && after.addresses !== before.addresses);

/** A change of unknown outcome. */
export interface Attempt {
  readonly before: KeyDetailsRow;
  readonly after: KeyDetailsRow;
  /** The keys after changes of unknown outcome that were requested earlier. */
  readonly earlier: readonly KeyDetailsRow[];
}

type Repeat = (row: KeyDetailsRow, attempt: Attempt) => Partial<KeyDetailsRow>;

/** Whether the row has the value that the change replaces: the one that was read, or the one of an earlier repetition. */
const isUnchanged = (member: 'expiresAt' | 'addresses', row: KeyDetailsRow, { before, earlier }: Attempt): boolean =>
  [before, ...earlier].some((other) => other[member] === row[member]);

const repeats: Partial<Record<ChangedMember, Repeat>> = {
  scopes: (row, { before, after }) => {
    const [held, kept] = [splitScopes(before.scopes), new Set(splitScopes(after.scopes))];
    const removed = new Set(held.filter((scope) => !kept.has(scope)));
    const scopes = splitScopes(row.scopes).filter((scope) => !removed.has(scope));
    return { scopes: scopes.join(' '), needsRole: hasReservedScope(scopes) ? row.needsRole : 0 };
  },
  expiresAt: (row, attempt) => (isUnchanged('expiresAt', row, attempt) ? { expiresAt: attempt.after.expiresAt } : {}),
  disabled: (row, { after: { disabledAt, disabledReason } }) =>
    row.disabledAt === null || row.disabledReason === 'leaked' || disabledReason === 'administrator'
      ? { disabledAt: row.disabledAt ?? disabledAt, disabledReason }
      : {},
  addresses: (row, attempt) => (isUnchanged('addresses', row, attempt) ? { addresses: attempt.after.addresses } : {}),
};

/** @returns the row's members that repeat the removal of rights, except members that a later change replaced */
export const repeatNarrowing = (row: KeyDetailsRow, attempt: Attempt): Partial<KeyDetailsRow> =>
  Object.assign({}, ...narrowedMembers(attempt.before, attempt.after).map((member) => repeats[member]?.(row, attempt)));
