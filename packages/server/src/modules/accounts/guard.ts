/** Checks in the transaction of a change whether the principal may still make it. */
import type { Act, Principal } from '../../foundation/principal.ts';
import type { Transaction } from '../../foundation/database/db.ts';

/** For accounts, this is `assertSessionValidTx`. It is an argument because it belongs to a later module. */
export type Guard = (tx: Transaction, principal: Principal, now: number) => Promise<void>;

/** A change that its guard checks first; by default, {@link rejectAccounts} does. */
export interface GuardedAct extends Act {
  readonly guard?: Guard | undefined;
}

/** For changes that no account may make. */
export const rejectAccounts: Guard = async (_tx, { kind }) => {
  if (kind === 'account') throw new Error('an account’s change needs a guard');
};

/**
 * For the retry of a change of unknown outcome. The change was allowed when it was requested, so it is not checked again,
 * not even whether the account is now the last administrator. A rejected repetition is final, so the change would not be made.
 */
export const allowedEarlier: Guard = async () => undefined;

const system: Principal = { kind: 'system' };

/** The principal for the check of the last administrator, which rejects accounts only. */
export const lastAdministratorPrincipal = (principal: Principal, guard: Guard): Principal =>
  guard === allowedEarlier ? system : principal;
