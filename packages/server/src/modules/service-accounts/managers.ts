/** The managers of service accounts. */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { KeyPrincipal, Principal } from '../../foundation/principal.ts';
import { isAccountId } from '../../foundation/account-id.ts';
import { recordEventTx } from '../audit/audit.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import type { KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { assertMayActFor, assertMayActForTx } from './acting.ts';
import { lockAccountsTx, lockAccountTx } from './acting-store.ts';
import { countChangeTx } from './counts.ts';
import { confirmingAbsence, findExisting, notFound } from './service-accounts.ts';
import * as store from './store.ts';
import type { ManagerRow } from './store.ts';

export type { ManagerRow } from './store.ts';

export interface ManagersOptions extends RecordingCore {
  /** Undefined for load tests. */
  readonly creationLimits: KeyCreationLimits | undefined;
}

/** No management key: a thief of one would add an account of their own, which stays after the key was deleted. */
export type ManagerChanger = Exclude<Principal, KeyPrincipal>;

export class Managers {
  /** Removals of unknown outcome, which are repeated until they are durable. */
  readonly #pending = new PendingChanges<string>();
  readonly #options: ManagersOptions;

  constructor(options: ManagersOptions) {
    this.#options = options;
  }

  /** @returns the managers in the order in which they were added @throws DomainError `account_not_found` */
  async list(principal: Principal, id: string): Promise<ManagerRow[]> {
    const { db } = this.#options;
    await assertMayActFor(db, principal, id);
    await findExisting(db, id);
    return store.listManagers(db, id);
  }

  /**
   * Nothing changes if the account is a manager already.
   * @throws DomainError `account_not_found`, `manager_not_eligible`, `manager_limit_reached`, `too_many_changes`,
   *   `invalid_access_token`
   */
  async add(principal: ManagerChanger, id: string, managerId: string): Promise<ManagerRow> {
    const { db, clock, creationLimits } = this.#options;
    await assertMayActFor(db, principal, id);
    await findExisting(db, id);
    if (managerId === id || !isAccountId(managerId)) throw new DomainError('manager_not_eligible');
    const now = clock.now();
    const added = db.transaction(async (tx) => {
      const caller = principal.kind === 'account' ? [principal.accountId] : [];
      const locked = lockAccountsTx(tx, [...caller, id, managerId]);
      const [, { at, managers }] = await allInOrder([locked, this.#lockTx(tx, principal, id, now)]);
      const existing = managers.find((manager) => manager.id === managerId);
      if (existing) return existing;
      if (managers.length >= limits.managersPerServiceAccountMax) throw new DomainError('manager_limit_reached');
      if (!(await store.isEligibleTx(tx, managerId))) throw new DomainError('manager_not_eligible');
      await countChangeTx(tx, principal, creationLimits, now);
      await store.addManagerTx(tx, id, managerId, at);
      const target = store.managerTarget(id, managerId);
      await recordEventTx(tx, { at, principal, action: 'service_account.manager_added', accountId: id, target });
      return { id: managerId, addedAt: at };
    });
    return added.catch((error: unknown) => confirmingAbsence(db, error));
  }

  /**
   * Resolves when the removal is durable and recorded: each later change by the removed manager is rejected. If the outcome
   * is unknown, it throws, and the removal is repeated in the background, unless the account has been added again since.
   * Only administrators and operators can remove the last manager.
   * @throws DomainError `account_not_found`, `manager_not_found`, `last_manager`, `invalid_access_token`,
   *   `unavailable`
   */
  async remove(principal: ManagerChanger, id: string, managerId: string): Promise<void> {
    const { db, clock } = this.#options;
    await assertMayActFor(db, principal, id);
    const removal = { principal, id, managerId, now: clock.now() };
    const target = store.managerTarget(id, managerId);
    await runNarrowing(this.#options, {
      read: async () => {
        await findExisting(db, id);
        findManager(await store.listManagers(db, id), managerId);
      },
      changeTx: async (tx) => removeTx(tx, removal, await this.#lockTx(tx, principal, id, removal.now)),
      recordedOf: ({ at }) => [{ kind: 'manager_removed', id: target, at }],
      repetition: {
        pending: this.#pending,
        of: ({ addedAt }) => {
          const repeatTx = async (tx: Transaction): Promise<void> => {
            await lockAccountTx(tx, id);
            const locked = await readTx(tx, id, removal.now);
            const isSame = locked.managers.some((manager) => manager.id === managerId && manager.addedAt === addedAt);
            if (isSame) await removeTx(tx, removal, locked);
          };
          return [{ id: target, kind: `remove ${addedAt}`, txs: [repeatTx] }];
        },
      },
    });
  }

  /** Checks the principal, and locks the service account. */
  async #lockTx(tx: Transaction, principal: ManagerChanger, id: string, now: number): Promise<Locked> {
    await assertMayActForTx(tx, principal, id, now);
    // For administrators and operators, who manage without being managers.
    await lockAccountTx(tx, id);
    return readTx(tx, id, now);
  }
}

interface Removal {
  readonly principal: ManagerChanger;
  readonly id: string;
  readonly managerId: string;
  readonly now: number;
}

interface Locked {
  /** The time of the change: the deletion journal identifies a change of a service account by its time. */
  readonly at: number;
  readonly managers: readonly ManagerRow[];
}

/** @throws DomainError `account_not_found` */
async function readTx(tx: Transaction, id: string, now: number): Promise<Locked> {
  const row = await store.findServiceAccount(tx, id);
  if (!row) throw notFound();
  return { at: Math.max(now, row.updatedAt + 1), managers: await store.listManagers(tx, id) };
}

/** @throws DomainError `manager_not_found` */
function findManager(managers: readonly ManagerRow[], id: string): ManagerRow {
  const found = managers.find((manager) => manager.id === id);
  if (!found) throw new DomainError('manager_not_found');
  return found;
}

/**
 * @returns the time of the removal, and that of the addition
 * @throws DomainError `manager_not_found`, `last_manager`
 */
async function removeTx(
  tx: Transaction,
  { principal, id, managerId }: Removal,
  { at, managers }: Locked,
): Promise<{ readonly at: number; readonly addedAt: number }> {
  const { addedAt } = findManager(managers, managerId);
  if (managers.length === 1 && !mayRemoveLast(principal)) throw new DomainError('last_manager');
  await store.removeManagerTx(tx, id, managerId, at);
  const target = store.managerTarget(id, managerId);
  await recordEventTx(tx, { at, principal, action: 'service_account.manager_removed', accountId: id, target });
  return { at, addedAt };
}

/** They manage the service account afterwards. */
const mayRemoveLast = (principal: ManagerChanger): boolean =>
  principal.kind === 'operator' || (principal.kind === 'account' && principal.actsAs === 'administrator');
