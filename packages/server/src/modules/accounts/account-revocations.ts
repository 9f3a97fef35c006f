/**
 * What must stop at once when an account is deleted or disabled: its sessions, its keys, its tokens, on every instance.
 * A change whose outcome is unknown is finished here, and until it is, this instance answers 503 for the account's keys
 * and tokens, as it does for a deleted key.
 */
import type { Principal } from '../../foundation/principal.ts';
import { findAbilityEvent } from '../audit/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Db } from '../../foundation/database/db.ts';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { revocationsOf, type Revocations } from '../deletion-journal/revocation.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { allowedEarlier, type Guard } from './guard.ts';
import { deleteAccount, disableAccount, enableAccount, findEnabledCount, type OnDeleted } from './store.ts';

export interface AccountRevocationsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly signInLimits: SignInLimits;
  /** None where no journal is kept. */
  readonly revocations?: Revocations | undefined;
  /** Of accounts' changes. Without one no account makes any. */
  readonly guard?: Guard;
}

/** What is tried again when a change's outcome is unknown. */
export interface RetriedChange<T> {
  /** See {@link PendingChanges}. */
  readonly kind: string;
  readonly change: () => Promise<T>;
  /** Ends what must have ended, unless it has ended already. Retried until it succeeds. */
  readonly finish: () => Promise<unknown>;
}

export class AccountRevocations {
  /** Accounts whose credentials are answered 503. */
  readonly unfinished = new PendingChanges<string>();
  readonly #options: AccountRevocationsOptions;

  constructor(options: AccountRevocationsOptions) {
    this.#options = options;
  }

  /**
   * With all that belongs to it; resolves once it outlives the database.
   * @param guard instead of the usual one, first in the deletion's own transaction
   * @returns whether it existed
   * @throws DomainError what `guard` throws, `last_administrator`, `unavailable`
   */
  async delete(principal: Principal, id: string, guard = this.#options.guard): Promise<boolean> {
    const { db, clock, signInLimits } = this.#options;
    const at = clock.now();
    const leave: OnDeleted = (tx, canonicalEmail) => signInLimits.changeEmailOwnerTx(tx, canonicalEmail);
    const existed = await this.orFinish(id, {
      kind: 'delete',
      change: () => deleteAccount(db, principal, id, at, guard, leave),
      finish: () => deleteAccount(db, principal, id, at, allowedEarlier, leave),
    });
    if (existed) await this.#options.revocations?.record([{ kind: 'account', id, at }]);
    return existed;
  }

  /**
   * Ends its sessions and pauses its keys; resolves once it outlives the database. When its outcome is unknown, it is
   * finished later unless a request to enable the account is acknowledged before, on whatever instance.
   * @param guard as of {@link delete}
   * @returns false when it was disabled already, or isn't there
   * @throws DomainError as {@link delete}
   */
  async disable(principal: Principal, id: string, guard = this.#options.guard): Promise<boolean> {
    const { db, clock } = this.#options;
    const at = clock.now();
    const enabledCount = await findEnabledCount(db, id);
    if (enabledCount === undefined) return false;
    const isChanged = await this.orFinish(id, {
      kind: `disable ${enabledCount}`,
      change: () => disableAccount(db, principal, id, at, guard),
      finish: () => disableAccount(db, principal, id, at, allowedEarlier, enabledCount),
    });
    await this.#recordAbility(id);
    return isChanged;
  }

  /** Its keys work again; its sessions don't come back. @returns false when it was not disabled */
  async enable(principal: Principal, id: string): Promise<boolean> {
    const { db, clock, guard } = this.#options;
    const isChanged = await enableAccount(db, principal, id, clock.now(), guard);
    await this.#recordAbility(id);
    return isChanged;
  }

  /**
   * A change by which keys or sessions of an account end. When its outcome is unknown it fails, and this instance
   * answers 503 for the account's credentials until the change is finished.
   * @throws DomainError what `change` throws, `unavailable`
   */
  orFinish<T>(id: string, { kind, change, finish }: RetriedChange<T>): Promise<T> {
    this.unfinished.assertRoom();
    return change().catch((error: unknown) => {
      if (isOutcomeUnknown(error)) {
        const finishAndRecord = async (): Promise<void> => {
          await finish();
          this.#options.revocations?.catchUpSoon();
        };
        this.unfinished.add(id, { kind, finish: finishAndRecord });
      }
      throw error;
    });
  }

  /** What the trail says last: of two at once, each may find the other's, and so the later one's is recorded. */
  async #recordAbility(accountId: string): Promise<void> {
    const { db, revocations } = this.#options;
    const event = revocations && (await findAbilityEvent(db, accountId));
    if (event) await revocations.record(revocationsOf(event));
  }
}
