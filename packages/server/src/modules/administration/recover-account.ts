/**
 * Secures a compromised account in one transaction. Where its email address was changed lately,
 * the administrator names which address is the owner's: the present one may be the thief's.
 */
import { limits } from '@keyreeve/contract';
import { emailChangesKeptSince, restoreEmailTx } from '../self-service/email-change-tx.ts';
import { refuseTaken } from '../self-service/store.ts';
import { lockAccountTx, voidPasswordTx } from '../accounts/credentials-store.ts';
import { parseEmail } from '../accounts/email.ts';
import { keepingAnAdministratorTx } from '../accounts/store.ts';
import { deleteAccountKeysTx } from '../api-keys/store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Principal } from '../../foundation/principal.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { listEmailChanges, voidUndoCodesTx, type EmailChangeRow } from '../accounts/email-change-store.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { assertConfirmed, lock, type CodeTo } from './store.ts';

/** Where the link goes. */
export interface ResetEmail {
  readonly resetTo?: 'previous' | 'current';
  /** Which of several previous ones. */
  readonly previousEmail?: string;
}

export interface Taking {
  readonly id: string;
  readonly to: ResetEmail;
  readonly codeTo: CodeTo;
  readonly mailer: Mailer;
  readonly signInLimits: SignInLimits;
  readonly now: number;
}

/**
 * Ends its sessions, deletes its keys, voids its password, its codes and its links for undoing a change of the email
 * address, and sends a new code.
 * @param onEpoch told which sessions are to end, for {@link finishRecovery}
 * @returns the ids of the keys
 * @throws DomainError `account_not_found`, `email_changed_recently`, `email_unconfirmed`, `account_exists`,
 *   `invalid_request`, `last_administrator`, `invalid_access_token`
 */
export const recoverAccount = (
  db: Db,
  principal: Principal,
  taking: Taking,
  onEpoch: (epoch: number) => void,
): Promise<number[]> => {
  const work = db.transaction(async (tx) => {
    const { sessionEpoch: epoch } = await lock(tx, principal, taking.id, taking.now);
    onEpoch(epoch);
    // Its password is void until its owner has the mail, so it doesn't count as an administrator meanwhile.
    return keepingAnAdministratorTx(tx, principal, taking.id, () => recoverTx(tx, principal, taking, epoch));
  });
  return work.catch(refuseTaken);
};

/**
 * Makes a change that was allowed, unless it has happened. Where the address can't be chosen any more, the account is
 * closed all the same and nobody is sent a link: the administrator repeats the request.
 * @param epoch of the sessions that were to end
 */
export async function finishRecovery(db: Db, principal: Principal, taking: Taking, epoch: number): Promise<void> {
  const { id, now } = taking;
  try {
    await db.transaction((tx) => recoverTx(tx, principal, taking, epoch));
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    await db.transaction(async (tx) => {
      if (await voidPasswordTx(tx, id, now, epoch)) {
        await voidLinksTx(tx, id);
        await recordAccountEventTx(tx, principal, 'account.compromised', id, now);
      }
      await deleteAccountKeysTx(tx, principal, id, now);
    });
  }
}

async function recoverTx(tx: Transaction, principal: Principal, taking: Taking, epoch: number): Promise<number[]> {
  const { id, to, codeTo, now } = taking;
  const account = await lockAccountTx(tx, id);
  const isToDo = account !== undefined && (epoch < 0 || account.sessionEpoch === epoch);
  if (isToDo) {
    const change = chosen(await listEmailChanges(tx, id, emailChangesKeptSince(now)), to);
    if (change) await restoreEmailTx(tx, principal, taking, account, change, now);
    else {
      assertConfirmed(account);
      await voidPasswordTx(tx, id, now);
    }
    await voidLinksTx(tx, id);
    const { code, mail } = codeTo(change?.email ?? account.email);
    await insertCodeTx(tx, code);
    await recordAccountEventTx(tx, principal, 'account.compromised', id, now);
    await queueMailTx(tx, mail);
  }
  return deleteAccountKeysTx(tx, principal, id, now);
}

/** No link that was sent before overrides the decision of the administrator. */
async function voidLinksTx(tx: Transaction, id: string): Promise<void> {
  await deleteCodesTx(tx, id);
  await deleteCodesTx(tx, id, 'set_email');
  await voidUndoCodesTx(tx, id);
}

/** @returns undefined for the current address */
function chosen(
  changes: readonly EmailChangeRow[],
  { resetTo, previousEmail }: ResetEmail,
): EmailChangeRow | undefined {
  if (previousEmail !== undefined && resetTo !== 'previous')
    throw wrong('/previousEmail', 'It selects one of several previous addresses, so `resetTo` must be `previous`.');
  if (resetTo === 'current') return undefined;
  const [newest, ...older] = changes;
  if (resetTo === undefined) {
    if (newest) throw new DomainError('email_changed_recently');
    return undefined;
  }
  if (!newest)
    throw wrong('/resetTo', `The email address was not changed in the last ${limits.emailChangeKeptDays} days.`);
  if (previousEmail === undefined) {
    if (older.length === 0) return newest;
    throw new DomainError('email_changed_recently', {
      detail: `The email address was changed ${changes.length} times: name in previousEmail which one is the owner’s.`,
    });
  }
  const key = parseEmail(previousEmail)?.canonicalEmail;
  // The first time that it was given up, where that happened more than once.
  const named = changes.findLast(({ canonicalEmail }) => canonicalEmail === key);
  if (named) return named;
  throw wrong('/previousEmail', 'The account did not have this address before one of its changes.');
}

const wrong = (pointer: string, detail: string): DomainError =>
  new DomainError('invalid_request', { errors: [{ pointer, detail }] });
