/** Entitlements: the scopes in need of one that the keys of an account may have. Administrators set them. */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import {
  findEntitlements,
  lockEntitlementsTx,
  storeEntitlementsTx,
  type EntitlementsRow,
} from '../accounts/entitlement-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { RecordingCore, Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { countManagedChangeTx, type ManagedChangeLimits } from '../rate-limits/key-change-limits.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import { listNeedingEntitlement } from './store.ts';

export interface EntitlementsOptions extends RecordingCore {
  /** Repeats a change of unknown outcome; meanwhile, this instance answers 503 for the keys of the account. */
  readonly accounts: AccountRevocations;
  /** Absent for load tests: the changes of management keys are not counted. */
  readonly managedChanges?: ManagedChangeLimits | undefined;
}

export class Entitlements {
  readonly #options: EntitlementsOptions;

  constructor(options: EntitlementsOptions) {
    this.#options = options;
  }

  /** @returns the names in order @throws DomainError `account_not_found` */
  async list(accountId: string): Promise<string[]> {
    const row = await findEntitlements(this.#options.db, accountId);
    if (!row) throw new DomainError('account_not_found');
    return toNames(row.entitlements);
  }

  /**
   * Replaces the entitlements of an account. Resolves when the change is durable: every verification that starts later
   * applies it. If the outcome is unknown, it throws; a change that removes entitlements is then retried in the background,
   * unless a later change has replaced it.
   * @throws DomainError `invalid_request` for a name that is not a declared scope in need of an entitlement,
   *   `scope_not_entitled` for a management key whose account lacks an added one, `account_not_found`, `too_many_changes`,
   *   `invalid_access_token`, `invalid_management_key`, `unavailable`
   */
  async set(principal: Principal, accountId: string, names: readonly string[]): Promise<void> {
    const { clock, accounts, managedChanges } = this.#options;
    assertValid(names);
    const now = clock.now();
    const text = names.length === 0 ? null : names.toSorted().join(' ');
    const change = { principal, accountId, now, text };
    await runNarrowing(this.#options, {
      read: async () => void (await this.list(accountId)),
      changeTx: async (tx) => {
        await assertMayActForTx(tx, principal, accountId, now);
        await countManagedChangeTx(tx, managedChanges, principal, now);
        const before = await lockTx(tx, accountId);
        await assertEntitleable(tx, names, toNames(before.entitlements));
        await assertMayEntitle(tx, principal, names, toNames(before.entitlements));
        return storeTx(tx, change, before);
      },
      recordedOf: ({ removed, at }) =>
        removed.length > 0 ? [{ kind: 'entitlements_removed', id: accountId, at }] : [],
      repetition: {
        pending: accounts.unfinished,
        of: ({ revision }) => {
          const repeatTx = async (tx: Transaction): Promise<void> => {
            const found = await lockTx(tx, accountId);
            // A later change replaces all entitlements.
            if (found.revision === revision) await storeTx(tx, change, found);
          };
          return [{ id: accountId, kind: `entitlements ${revision} ${text}`, txs: [repeatTx] }];
        },
      },
    });
  }
}

/**
 * {@link Entitlements.set} in a transaction of the caller, who records the narrowing and repeats a change of unknown outcome.
 * @returns the entries of the deletion journal, and whether anything changed
 */
export async function setEntitlementsTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  names: readonly string[],
): Promise<{ readonly recorded: readonly Revocation[]; readonly isChanged: boolean }> {
  assertValid(names);
  const before = await lockTx(tx, accountId);
  await assertEntitleable(tx, names, toNames(before.entitlements));
  const text = names.length === 0 ? null : names.toSorted().join(' ');
  if (text === before.entitlements) return { recorded: [], isChanged: false };
  const { at, removed } = await storeTx(tx, { principal, accountId, now, text }, before);
  return { recorded: removed.length > 0 ? [{ kind: 'entitlements_removed', id: accountId, at }] : [], isChanged: true };
}

interface Change {
  readonly principal: Principal;
  readonly accountId: string;
  readonly now: number;
  /** As stored. */
  readonly text: string | null;
}

/** @throws DomainError `account_not_found` */
async function lockTx(tx: Transaction, accountId: string): Promise<EntitlementsRow> {
  const row = await lockEntitlementsTx(tx, accountId);
  if (!row) throw new DomainError('account_not_found');
  return row;
}

/** @returns the removed names, and the revision before the change */
async function storeTx(
  tx: Transaction,
  { principal, accountId, now, text }: Change,
  before: EntitlementsRow,
): Promise<{ readonly at: number; readonly removed: readonly string[]; readonly revision: number }> {
  const isSame = text === before.entitlements;
  // The deletion journal identifies a change by its time.
  const at = isSame ? before.updatedAt : Math.max(now, before.updatedAt + 1);
  const kept = toNames(text);
  const removed = toNames(before.entitlements).filter((name) => !kept.includes(name));
  // The new revision ends repetitions of earlier changes of unknown outcome, which this one replaces.
  await storeEntitlementsTx(tx, accountId, { entitlements: text, revision: before.revision + 1, updatedAt: at });
  const details = { entitlements: kept, removed };
  if (!isSame)
    await recordAccountEventTx(tx, { at, principal, action: 'account.entitlements_set', accountId, details });
  return { at, removed, revision: before.revision };
}

/** @param text as stored */
const toNames = (text: string | null): string[] => text?.split(' ') ?? [];

/** @throws DomainError `invalid_request` */
function assertValid(names: readonly string[]): void {
  const errors: FieldError[] = [];
  if (names.length > limits.entitlementsPerAccountMax)
    errors.push({
      pointer: '/entitlements',
      detail: `At most ${limits.entitlementsPerAccountMax}.`,
      code: 'too_many',
      limit: limits.entitlementsPerAccountMax,
    });
  for (const [index, name] of names.entries())
    if (!scopePattern.test(name) || name.length > limits.scopeCharsMax || names.indexOf(name) < index)
      errors.push({ pointer: `/entitlements/${index}`, detail: 'Expected a scope (RFC 6749 section 3.3), each once.' });
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
}

/** @param held entitlements that the account may keep @throws DomainError `invalid_request` */
async function assertEntitleable(tx: Transaction, names: readonly string[], held: readonly string[]): Promise<void> {
  const marked = await listNeedingEntitlement(tx, names);
  const errors = names.flatMap((name, index) =>
    marked.has(name) || held.includes(name)
      ? []
      : [
          {
            pointer: `/entitlements/${index}`,
            detail: `${name} is not a declared scope that needs an entitlement.`,
            code: 'not_entitleable' as const,
          },
        ],
  );
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
}

/**
 * A management key that leaks grants no more than the account that owns it has.
 * @throws DomainError `scope_not_entitled`
 */
async function assertMayEntitle(
  tx: Transaction,
  principal: Principal,
  names: readonly string[],
  held: readonly string[],
): Promise<void> {
  if (principal.kind !== 'key') return;
  const own = await findEntitlements(tx, principal.accountId);
  const grantable = toNames(own?.entitlements ?? null);
  const errors = names.flatMap((name, index) =>
    grantable.includes(name) || held.includes(name)
      ? []
      : [
          {
            pointer: `/entitlements/${index}`,
            detail: `The account of the management key lacks ${name}.`,
            code: 'not_grantable' as const,
          },
        ],
  );
  const detail = `The account of the management key lacks an entitlement. An operator gives this account the entitlement: \`keyreeve account entitlements ${principal.accountId} --set …\`, with all entitlements of the account.`;
  if (errors.length > 0) throw new DomainError('scope_not_entitled', { detail, errors });
}
