/**
 * Deletes, disables and enables accounts: every instance rejects the sessions, keys and tokens of a deleted or disabled
 * account immediately. A change of unknown outcome is repeated. Until it has succeeded, this instance answers 503 for the
 * account's keys and tokens.
 */
import type { Guard, Principal } from '../../foundation/principal.ts';
import { findAbilityEvent } from '../audit/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import {
  keyDeletions,
  revocationsOf,
  type RecordingCore,
  type Revocation,
  type Revocations,
} from '../deletion-journal/revocation.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { allowedEarlier, type GuardedAct } from './guard.ts';
import { deleteAccountTx, disableAccountTx, enableAccount, findEnabledCount, type OnDeleted } from './store.ts';

export interface AccountRevocationsOptions extends RecordingCore {
  readonly signInLimits: SignInLimits;
  /** Checks the changes that accounts make. Without it, no account may make any. */
  readonly guard?: Guard;
}

export class AccountRevocations {
  /** Accounts for whose credentials this instance answers 503. */
  readonly unfinished = new PendingChanges<string>();
  readonly #options: AccountRevocationsOptions;

  constructor(options: AccountRevocationsOptions) {
    this.#options = options;
  }

  /**
   * Deletes everything that belongs to the account too. Resolves when the deletion journal contains the deletion.
   * @param guard replaces the usual one; runs first in the transaction of the deletion
   * @returns whether it existed
   * @throws DomainError what `guard` throws, `last_administrator`, `unavailable`
   */
  async delete(principal: Principal, id: string, guard = this.#options.guard): Promise<boolean> {
    const at = this.#options.clock.now();
    const deleteTx = (by?: Guard) => (tx: Transaction) => this.deleteTx(tx, { principal, now: at, guard: by }, id);
    const recorded = await runNarrowing(this.#options, {
      changeTx: deleteTx(guard),
      recordedOf: (made) => made,
      repetition: { pending: this.unfinished, of: () => [{ id, kind: 'delete', txs: [deleteTx(allowedEarlier)] }] },
    });
    return recorded.length > 0;
  }

  /**
   * As {@link delete}, in a transaction of the caller.
   * @returns the entries of the deletion journal, which the caller records; none if the account did not exist
   */
  async deleteTx(tx: Transaction, act: GuardedAct, id: string): Promise<readonly Revocation[]> {
    const { signInLimits } = this.#options;
    const onDeleted: OnDeleted = (by, canonicalEmail) => signInLimits.changeEmailOwnerTx(by, canonicalEmail);
    const keyIds = await deleteAccountTx(tx, act, id, onDeleted);
    return keyIds ? [...keyDeletions(keyIds, act.now), { kind: 'account', id, at: act.now }] : [];
  }

  /**
   * Ends the account's sessions and rejects its keys. Resolves when the deletion journal contains the change. When the
   * outcome is unknown, the change is repeated, unless any instance has acknowledged a request to enable the account since.
   * @param guard as of {@link delete}
   * @returns false when it was disabled already, or does not exist
   * @throws DomainError as {@link delete}
   */
  async disable(principal: Principal, id: string, guard = this.#options.guard): Promise<boolean> {
    const { db, clock } = this.#options;
    const act = { principal, now: clock.now() };
    const enabledCount = await findEnabledCount(db, id);
    if (enabledCount === undefined) return false;
    const repeatTx = (tx: Transaction) => disableAccountTx(tx, { ...act, guard: allowedEarlier }, id, enabledCount);
    return runNarrowing(this.#options, {
      changeTx: (tx) => disableAccountTx(tx, { ...act, guard }, id),
      // Also if it was disabled already: the entry of that change may be missing.
      recordedOf: () => [(revocations) => this.#recordAbility(revocations, id)],
      repetition: {
        pending: this.unfinished,
        of: () => [{ id, kind: `disable ${enabledCount}`, txs: [repeatTx] }],
      },
    });
  }

  /** Accepts the account's keys again. Its sessions stay ended. @returns false when it was not disabled */
  async enable(principal: Principal, id: string): Promise<boolean> {
    const { db, clock, guard, revocations } = this.#options;
    const isChanged = await enableAccount(db, { principal, now: clock.now(), guard }, id);
    if (revocations) await this.#recordAbility(revocations, id);
    return isChanged;
  }

  /** Records the latest event of the audit log: of two concurrent changes, each records the later one. */
  async #recordAbility(revocations: Revocations, accountId: string): Promise<void> {
    const event = await findAbilityEvent(this.#options.db, accountId);
    if (event) await revocations.record(revocationsOf(event));
  }
}
