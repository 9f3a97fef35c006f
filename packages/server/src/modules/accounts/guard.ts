/** Changes with a guard, and the guards of changes that no session is checked for. */
import { system, type Act, type Guard, type Principal } from '../../foundation/principal.ts';

/** A change that its guard checks first; by default, {@link rejectAccounts} does. */
export interface GuardedAct extends Act {
  readonly guard?: Guard | undefined;
}

/** For changes that no account may make. */
export const rejectAccounts: Guard = async (_tx, { principal }) => {
  if (principal.kind === 'account') throw new Error('an account’s change needs a guard');
};

/**
 * For the retry of a change of unknown outcome. The change was allowed when it was requested, so it is not checked again,
 * not even whether the account is now the last administrator. A rejected repetition is final, so the change would not be made.
 */
export const allowedEarlier: Guard = async () => undefined;

/** The principal for the check of the last administrator, which rejects accounts only. */
export const lastAdministratorPrincipal = (principal: Principal, guard: Guard): Principal =>
  guard === allowedEarlier ? system : principal;
