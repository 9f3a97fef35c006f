/**
 * Deletes, disables and enables accounts: every instance rejects the sessions, keys and tokens of a deleted or disabled
 * account immediately. A change of unknown outcome is retried here. Until it has succeeded, this instance answers 503 for
 * the account's keys and tokens.
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
  /** Undefined without a deletion journal. */
  readonly revocations?: Revocations | undefined;
  /** Checks the changes that accounts make. Without it, no account may make any. */
  readonly guard?: Guard;
}

/** A change that is retried when its outcome is unknown. */
export interface RetriedChange<T> {
  /** See {@link PendingChanges}. */
  readonly kind: string;
  readonly change: () => Promise<T>;
  /** Makes the change unless it has been made already. Retried until it succeeds. */
  readonly finish: () => Promise<unknown>;
  /** Whether the attempt would have removed rights; only then it is retried. Default: it would. */
  readonly removesRights?: () => boolean;
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
    const { db, clock, signInLimits } = this.#options;
    const at = clock.now();
    const onDeleted: OnDeleted = (tx, canonicalEmail) => signInLimits.changeEmailOwnerTx(tx, canonicalEmail);
    const existed = await this.orFinish(id, {
      kind: 'delete',
      change: () => deleteAccount(db, principal, id, at, guard, onDeleted),
      finish: () => deleteAccount(db, principal, id, at, allowedEarlier, onDeleted),
    });
    if (existed) await this.#options.revocations?.record([{ kind: 'account', id, at }]);
    return existed;
  }

  /**
   * Ends the account's sessions and rejects its keys. Resolves when the deletion journal contains the change. When the
   * outcome is unknown, the change is retried, unless any instance has acknowledged a request to enable the account since.
   * @param guard as of {@link delete}
   * @returns false when it was disabled already, or does not exist
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

  /** Accepts the account's keys again. Its sessions stay ended. @returns false when it was not disabled */
  async enable(principal: Principal, id: string): Promise<boolean> {
    const { db, clock, guard } = this.#options;
    const isChanged = await enableAccount(db, principal, id, clock.now(), guard);
    await this.#recordAbility(id);
    return isChanged;
  }

  /**
   * Makes a change that deletes keys, ends sessions or removes rights of an account. When its outcome is unknown, the request fails, and
   * this instance answers 503 for the account's credentials until a retry has succeeded.
   * @throws DomainError what `change` throws, `unavailable`
   */
  orFinish<T>(id: string, { kind, change, finish, removesRights = () => true }: RetriedChange<T>): Promise<T> {
    this.unfinished.assertRoom();
    return change().catch((error: unknown) => {
      if (isOutcomeUnknown(error) && removesRights()) {
        const finishAndRecord = async (): Promise<void> => {
          await finish();
          this.#options.revocations?.catchUpSoon();
        };
        this.unfinished.add(id, { kind, finish: finishAndRecord });
      }
      throw error;
    });
  }

  /** Records the latest event of the audit log: of two concurrent changes, each records the later one. */
  async #recordAbility(accountId: string): Promise<void> {
    const { db, revocations } = this.#options;
    const event = revocations && (await findAbilityEvent(db, accountId));
    if (event) await revocations.record(revocationsOf(event));
  }
}
