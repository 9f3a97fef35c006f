/**
 * Requests of one account that remove rights. A few run at once, and the sessions and keys of the account take turns: a thief
 * with one session cannot stop its owner from ending that session, however many requests the thief sends.
 */
import { limits } from '@keyreeve/contract';
import type { RequestBounds } from './request-gate.ts';
import { Turns } from './turns.ts';

export class AccountTurns {
  readonly #bounds: RequestBounds;
  readonly #accounts = new Map<string, Turns>();

  constructor(bounds: RequestBounds) {
    this.#bounds = bounds;
  }

  /**
   * @param caller the verified session or key
   * @returns as {@link Turns.begin}, with its errors
   */
  async begin(accountId: string, caller: string): Promise<() => void> {
    const turns = this.#accounts.get(accountId) ?? this.#newTurns();
    this.#accounts.set(accountId, turns);
    const end = await turns.begin(caller);
    return () => {
      end();
      if (turns.isIdle) this.#accounts.delete(accountId);
    };
  }

  #newTurns(): Turns {
    return new Turns({
      runningMax: limits.removalsPerAccountMax,
      waitingMax: this.#bounds.account,
      waitingPerOwnerMax: this.#bounds.credential,
      waitMsMax: limits.writeWaitMsMax,
    });
  }
}
