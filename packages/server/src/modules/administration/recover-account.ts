/**
 * Secures a compromised account in one transaction. If its email address was changed recently, the administrator selects
 * the owner's email address, because the current one may be the thief's.
 */
import { limits } from '@keyreeve/contract';
import { emailChangesKeptSince, restoreEmailTx } from '../self-service/email-change-tx.ts';
import { lockAccountTx, voidPasswordTx } from '../accounts/credentials-store.ts';
import { parseEmail } from '../accounts/email.ts';
import { keepingAnAdministratorTx } from '../accounts/administrators-store.ts';
import { deleteAccountKeysTx } from '../api-keys/store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Principal } from '../../foundation/principal.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { listEmailChanges, type EmailChangeRow } from '../accounts/email-change-store.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { removeSuspiciousPasskeysTx } from '../passkeys/change-store.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { assertConfirmed, lockPerson, type CodeTo } from './store.ts';

/** Selects the email address that gets the link. */
export interface ResetEmail {
  readonly resetTo?: 'previous' | 'current';
  /** One of several previous email addresses. */
  readonly previousEmail?: string;
}

export interface Recovery {
  readonly id: string;
  readonly to: ResetEmail;
  readonly codeTo: CodeTo;
  readonly mailer: Mailer;
  readonly signInLimits: SignInLimits;
  readonly now: number;
}

interface Recovered {
  /** Of the sessions that the recovery ends. */
  readonly epoch: number;
  /** Of the deleted keys. */
  readonly keyIds: readonly number[];
}

/**
 * Ends the account's sessions, deletes its API keys and passkeys, clears its password, invalidates its codes and undo links, and sends a
 * new code.
 * @throws DomainError `account_not_found`, `email_changed_recently`, `email_unconfirmed`, `account_exists`,
 *   `invalid_request`, `last_administrator`, `invalid_access_token`
 */
export async function recoverAccountTx(tx: Transaction, principal: Principal, recovery: Recovery): Promise<Recovered> {
  const { sessionEpoch: epoch } = await lockPerson(tx, { principal, now: recovery.now }, recovery.id);
  // The account has no password until the owner uses the link, so it does not count as an administrator.
  const recover = (): Promise<number[]> => recoverTx(tx, principal, recovery, epoch);
  return { epoch, keyIds: await keepingAnAdministratorTx(tx, principal, recovery.id, recover) };
}

/**
 * Complete a recovery of unknown outcome, unless it has happened. If the email address can no longer be selected, the second
 * one secures the account without sending a link, and the administrator must repeat the request.
 * @param epoch of the sessions to end
 */
export const recoveryRepetitions = (
  principal: Principal,
  recovery: Recovery,
  epoch: number,
): readonly ((tx: Transaction) => Promise<unknown>)[] => [
  (tx) => recoverTx(tx, principal, recovery, epoch),
  async (tx) => {
    const { id, now } = recovery;
    if (await voidPasswordTx(tx, id, now, epoch)) {
      await voidLinksTx(tx, id);
      await removeSuspiciousPasskeysTx(tx, { principal, now }, id, 0);
      await recordAccountEventTx(tx, { at: now, principal, action: 'account.compromised', accountId: id });
    }
    await deleteAccountKeysTx(tx, { principal, now }, id);
  },
];

async function recoverTx(tx: Transaction, principal: Principal, recovery: Recovery, epoch: number): Promise<number[]> {
  const { id, to, codeTo, now } = recovery;
  const act = { principal, now };
  const account = await lockAccountTx(tx, id);
  if (account?.sessionEpoch === epoch) {
    const change = chooseChange(await listEmailChanges(tx, id, emailChangesKeptSince(now)), to);
    if (change) await restoreEmailTx(tx, act, recovery, { account, change });
    else {
      assertConfirmed(account);
      await voidPasswordTx(tx, id, now);
    }
    await voidLinksTx(tx, id);
    await removeSuspiciousPasskeysTx(tx, act, id, 0);
    const { code, mail } = codeTo(change?.email ?? account.email);
    await insertCodeTx(tx, code);
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.compromised', accountId: id });
    await queueMailTx(tx, mail);
  }
  return deleteAccountKeysTx(tx, act, id);
}

/** Earlier links must not override the decision of the administrator. */
async function voidLinksTx(tx: Transaction, id: string): Promise<void> {
  await deleteCodesTx(tx, id);
  await deleteCodesTx(tx, id, 'set_email');
  await deleteCodesTx(tx, id, 'undo_email_change');
}

/** @returns the change to undo; undefined for the current email address */
function chooseChange(
  changes: readonly EmailChangeRow[],
  { resetTo, previousEmail }: ResetEmail,
): EmailChangeRow | undefined {
  if (previousEmail !== undefined && resetTo !== 'previous')
    throw invalidAt(
      '/previousEmail',
      'It selects one of several previous email addresses, so `resetTo` must be `previous`.',
    );
  if (resetTo === 'current') return undefined;
  const [newest, ...older] = changes;
  if (resetTo === undefined) {
    if (newest) throw new DomainError('email_changed_recently');
    return undefined;
  }
  if (!newest)
    throw invalidAt('/resetTo', `The email address was not changed in the last ${limits.emailChangeKeptDays} days.`);
  if (previousEmail === undefined) {
    if (older.length === 0) return newest;
    throw new DomainError('email_changed_recently', {
      detail: `The email address was changed ${changes.length} times: set previousEmail to the owner’s email address.`,
    });
  }
  const key = parseEmail(previousEmail)?.canonicalEmail;
  // The oldest such change, if the account gave up this email address more than once.
  const selected = changes.findLast(({ canonicalEmail }) => canonicalEmail === key);
  if (selected) return selected;
  throw invalidAt('/previousEmail', 'The account did not have this email address before one of its changes.');
}
