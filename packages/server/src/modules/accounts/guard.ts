/** Whether a change of an account is still allowed when its transaction runs. */
import type { Principal } from '../../foundation/principal.ts';
import type { Transaction } from '../../foundation/database/db.ts';

/**
 * Judges in a change’s own transaction whether who makes it still may: of accounts `assertSessionValidTx`, which belongs to
 * a later slice.
 */
export type Guard = (tx: Transaction, principal: Principal, now: number) => Promise<void>;

/** Where no account may make the change. */
export const rejectAccounts: Guard = async (_tx, { kind }) => {
  if (kind === 'account') throw new Error('an account’s change needs a guard');
};

/**
 * For a change of unknown outcome that is finished: it was allowed when it was requested, so nothing of it is judged
 * again, not even whether the account is the last administrator by now. It would be retried for ever, and this instance
 * would answer 503 for the account.
 */
export const allowedEarlier: Guard = async () => undefined;

const system: Principal = { kind: 'system' };

/** As whom to judge whether a change leaves no administrator: only accounts are refused that. */
export const lastAdministratorPrincipal = (principal: Principal, guard: Guard | undefined): Principal =>
  guard === allowedEarlier ? system : principal;
