/**
 * What must stop at once when an account is deleted or disabled: its sessions, its keys, its tokens, on every instance.
 * A change whose outcome is unknown is finished here, and until it is, this instance answers 503 for the account's keys
 * and tokens, as it does for a deleted key.
 */
import type { Principal } from '../audit/audit.ts';
import { findAbilityEvent } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/db.ts';
import { isOutcomeUnknown } from '../db/unavailable.ts';
import { revocationsOf, type Revocations } from '../deletion-journal/revocation.ts';
import { UnfinishedRevocations } from '../deletion-journal/unfinished-revocations.ts';
import { deleteAccount, disableAccount, enableAccount, type Guard } from './store.ts';

export interface AccountRevocationsOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** None where no journal is kept. */
  readonly revocations?: Revocations | undefined;
  /** Of accounts' changes. Without one no account makes any. */
  readonly guard?: Guard;
}

/** One atomic operation of the store. */
type Change = typeof deleteAccount;

/** Nothing is judged again. */
const pass: Guard = async () => undefined;

export class AccountRevocations {
  /** Accounts of which neither yes nor no is said. */
  readonly unfinished = new UnfinishedRevocations<string>();
  readonly #options: AccountRevocationsOptions;

  constructor(options: AccountRevocationsOptions) {
    this.#options = options;
  }

  /**
   * With all that belongs to it; resolves once it outlives the database.
   * @param guard instead of the usual one, first in the deletion's own transaction
   * @param guardAgain the same where a deletion of unknown outcome is finished: it was allowed, so it judges nothing
   * @returns whether it existed
   * @throws DomainError what `guard` throws, `last_administrator`, `unavailable`
   */
  async delete(principal: Principal, id: string, guard = this.#options.guard, guardAgain = pass): Promise<boolean> {
    const at = this.#options.clock.now();
    const existed = await this.#change(deleteAccount, principal, id, at, guard, guardAgain);
    if (existed) await this.#options.revocations?.record([{ kind: 'account', id, at }]);
    return existed;
  }

  /**
   * Ends its sessions and pauses its keys; resolves once it outlives the database.
   * @param guard as of {@link delete}
   * @returns false when it was disabled already, or isn't there
   * @throws DomainError as {@link delete}
   */
  async disable(principal: Principal, id: string, guard = this.#options.guard, guardAgain = pass): Promise<boolean> {
    const at = this.#options.clock.now();
    const isChanged = await this.#change(disableAccount, principal, id, at, guard, guardAgain);
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
   * A change by which keys or sessions of an account end. When its outcome is unknown it fails, and until it is
   * finished, this instance says neither yes nor no of the account.
   * @param finish what must have ended, if it hasn't; asked again until it doesn't fail
   * @throws DomainError what `change` throws, `unavailable`
   */
  orFinish<T>(id: string, change: () => Promise<T>, finish: () => Promise<unknown>): Promise<T> {
    this.unfinished.assertRoom();
    return change().catch((error: unknown) => {
      if (isOutcomeUnknown(error)) {
        this.unfinished.add(id, async () => {
          await finish();
          this.#options.revocations?.lookSoon();
        });
      }
      throw error;
    });
  }

  #change(
    change: Change,
    principal: Principal,
    id: string,
    now: number,
    guard: Guard | undefined,
    guardAgain: Guard,
  ): Promise<boolean> {
    const { db } = this.#options;
    return this.orFinish(
      id,
      () => change(db, principal, id, now, guard),
      () => change(db, principal, id, now, guardAgain),
    );
  }

  /** What the trail says last: of two at once, each may find the other's, and so the later one's is recorded. */
  async #recordAbility(accountId: string): Promise<void> {
    const { db, revocations } = this.#options;
    const event = revocations && (await findAbilityEvent(db, accountId));
    if (event) await revocations.record(revocationsOf(event));
  }
}
