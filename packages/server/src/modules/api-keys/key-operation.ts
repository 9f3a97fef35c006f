/** A change of one key in its transaction: who may make it, how it is counted, and its plan with the audit events. */
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventsTx } from '../audit/audit.ts';
import { assertKeyChangeAllowed, countedAs, countKeyChangeTx } from '../rate-limits/key-change-limits.ts';
import { assertCreationAllowed, countCreationTx, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import type { Plan } from './change-plan.ts';
import { lockKeyTx, type KeyDetailsRow } from './change-store.ts';
import { lockOwnerTx } from './creation-store.ts';
import type { Attempt } from './narrowing.ts';

/** @param at the time of the change, in milliseconds @returns undefined if nothing changes @throws DomainError */
export type MakePlan = (before: KeyDetailsRow, at: number) => Plan | undefined;

export interface Repetition {
  /** Two changes of one key and revision with the same text do the same. */
  readonly kind: string;
  /** The first possible plan finishes the change. */
  readonly plansOf: (attempt: Attempt) => readonly MakePlan[];
}

export interface Operation {
  readonly principal: Principal;
  readonly accountId: string;
  readonly id: number;
  /** When the request arrived, in milliseconds. */
  readonly now: number;
  readonly plan: MakePlan;
  /** Repeats a narrowing change of unknown outcome. Absent if it must not be repeated. */
  readonly repetition?: Repetition;
  /** Checks the scopes that the change gives. In the transaction, the key is locked then. */
  readonly assertScopes?: (reader: Reader, before: KeyDetailsRow) => Promise<void>;
  /** Whether it may change the nickname or add scopes of the catalogue. */
  readonly locksOwner?: boolean;
  /** Which limits count it: a creation is a change, too. Absent if none does. */
  readonly countsAs?: 'change' | 'creation';
  /** Decides and locks before the key is locked. */
  readonly admitTx?: ReplacementGuard['admitTx'];
}

/** Of {@link KeyChanges.replaceUnchanged}. */
export interface ReplacementGuard {
  /** The expected time of the last change of the key. */
  readonly changedAt: number;
  readonly admitTx: (tx: Transaction) => Promise<void>;
  /** @param at the time of the change */
  readonly storeTx: (tx: Transaction, at: number) => void;
}

/**
 * Rejects by reads what {@link admitOperationTx} would reject.
 * @param creationLimits undefined if nothing is counted
 * @throws DomainError `too_many_changes`, `too_many_creations`
 */
export async function assertCountAllowed(
  db: Db,
  { principal, now, countsAs }: Operation,
  creationLimits: KeyCreationLimits | undefined,
): Promise<void> {
  const counted = countedAs(principal);
  if (!creationLimits || !countsAs || !counted) return;
  await allInOrder([
    assertKeyChangeAllowed(db, creationLimits.bucketHash, counted, now),
    countsAs === 'creation' && assertCreationAllowed(db, creationLimits, counted, now),
  ]);
}

/** Checks and counts the request, and locks the key. The statements are sent together. @returns the key */
export async function admitOperationTx(
  tx: Transaction,
  operation: Operation,
  creationLimits: KeyCreationLimits | undefined,
): Promise<KeyDetailsRow | undefined> {
  const { principal, accountId, id, now, locksOwner = false, countsAs } = operation;
  const counted = creationLimits && countsAs && countedAs(principal);
  const [, , , , , row] = await allInOrder([
    assertMayActForTx(tx, principal, accountId, now),
    counted && countKeyChangeTx(tx, creationLimits.bucketHash, counted, now),
    counted && countsAs === 'creation' && countCreationTx(tx, creationLimits, counted, now),
    locksOwner && lockOwnerTx(tx, accountId),
    operation.admitTx?.(tx),
    lockKeyTx(tx, id),
  ]);
  return row;
}

/**
 * Each change of a key has a later time than the previous one, even if the clocks of instances differ: the deletion journal
 * identifies a change by its key and time.
 */
export const timeOfChange = ({ now }: Operation, before: KeyDetailsRow): number => Math.max(now, before.updatedAt + 1);

export interface Made extends Pick<Plan, 'after' | 'narrowing'> {
  readonly before: KeyDetailsRow;
}

/**
 * Makes the change of the locked key. The statements and the audit events are sent together.
 * @throws DomainError `not_key_owner`, `key_not_found`, `nickname_taken`, and those of `makePlan`
 */
export async function planTx(
  tx: Transaction,
  operation: Operation,
  makePlan: MakePlan,
  row: KeyDetailsRow | undefined,
): Promise<Made> {
  const { principal, accountId, id } = operation;
  const before = ownedBy(accountId, row);
  const plan = makePlan(before, timeOfChange(operation, before));
  if (!plan) return { before, after: before, narrowing: [] };
  const event = { at: plan.after.updatedAt, principal, accountId, target: String(id) };
  await allInOrder([
    plan.storeTx(tx),
    recordEventsTx(
      tx,
      plan.events.map((of) => ({ ...event, ...of })),
    ),
  ]);
  return { before, after: plan.after, narrowing: plan.narrowing };
}

/** @throws DomainError `not_key_owner`, `key_not_found` */
export function ownedBy(accountId: string, row: KeyDetailsRow | undefined): KeyDetailsRow {
  if (row?.accountId === accountId) return row;
  throw new DomainError(row ? 'not_key_owner' : 'key_not_found');
}
