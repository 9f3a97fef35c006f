/** Changes an account's email address and undoes such changes, with their codes, audit events and mails. */
import { limits } from '@keyreeve/contract';
import { setEmailTx, voidPasswordTx } from '../accounts/credentials-store.ts';
import type { Email } from '../accounts/email.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { CredentialsRow } from '../accounts/store.ts';
import { deleteAccountKeysTx, listAccountKeys } from '../api-keys/store.ts';
import type { Act } from '../../foundation/principal.ts';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { insertCodeTx, deleteCodesTx } from '../one-time-codes/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import {
  insertEmailChangeTx,
  listEmailChanges,
  deleteEmailChangesTx,
  type EmailChangeRow,
} from '../accounts/email-change-store.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Links } from '../mail/links.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { removeSuspectFactorsTx, type FactorsInForce } from '../passkeys/change-store.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import { remainingTx, type Remaining } from './remaining.ts';
import { listTrustedKeysTx, suspectSince, suspicionOf, type TrustedUses } from './suspect-credentials.ts';

export interface MailParts {
  readonly codes: OneTimeCodes;
  readonly links: Links;
  readonly mailer: Mailer;
}

/** @returns the time, in milliseconds, of the oldest email change that is kept */
export const emailChangesKeptSince = (now: number): number => now - limits.emailChangeKeptDays * dayMs;

interface EmailReplacement {
  /** As before the change; its row is locked. */
  readonly account: CredentialsRow;
  readonly wanted: Email;
  readonly now: number;
}

/**
 * Makes a change that the account requested. The previous email address gets an undo link if it is verified and was not
 * brought back by a restore, because such an email address may no longer be the owner's. Earlier undo links still work:
 * an owner needs them if a thief changes the email address twice.
 * @throws DomainError `account_exists`, `too_many_requests`
 */
export async function changeOwnEmailTx(
  tx: Transaction,
  { codes, mailer }: MailParts,
  change: EmailReplacement,
): Promise<void> {
  const { account, wanted, now } = change;
  const { id, email, canonicalEmail, language, unverifiedSince, emailUnconfirmedSince } = account;
  const { id: request, row } = codes.request(now, (limits.outboxKeptDays * dayMs) / 1000);
  await applyChangeTx(tx, change);
  const data = { newEmail: wanted.email, at: toInstant(now) };
  if (unverifiedSince !== null || emailUnconfirmedSince !== null)
    return queueMailTx(tx, mailer.prepare({ to: email, language, template: 'email_changed', data }));
  await insertCodeTx(tx, { ...row, purpose: 'undo_email_change', accountId: id, email: { email, canonicalEmail } });
  const keys = (await listAccountKeys(tx, id)).map(({ nickname }) => nickname);
  const code = { request, page: 'undo-email-change', lifetime: limits.emailUndoSeconds } as const;
  const withUndo = {
    to: email,
    language,
    codeTemplate: 'email_changed_with_undo',
    data: { ...data, keys },
    code,
  } as const;
  await queueMailTx(tx, mailer.prepareWithCode(withUndo));
}

/**
 * Makes a change that an administrator or an operator requested. There is no undo link: the owner may have lost the
 * previous mailbox.
 * @throws DomainError as {@link changeOwnEmailTx}
 */
export async function changeSetEmailTx(
  tx: Transaction,
  { mailer }: Pick<MailParts, 'mailer'>,
  change: EmailReplacement,
): Promise<void> {
  const { account, wanted, now } = change;
  const { id, email, language } = account;
  await applyChangeTx(tx, change);
  await deleteCodesTx(tx, id, 'set_email');
  await deleteCodesTx(tx, id, 'undo_email_change');
  const data = { newEmail: wanted.email, at: toInstant(now) };
  await queueMailTx(tx, mailer.prepare({ to: email, language, template: 'email_changed', data }));
}

async function applyChangeTx(tx: Transaction, { account, wanted, now }: EmailReplacement): Promise<void> {
  const { id, email, canonicalEmail, unverifiedSince } = account;
  const mailbox = { kind: 'mailbox' } as const;
  await assertFewChangesTx(tx, id, now);
  if (!(await setEmailTx(tx, { principal: mailbox, now }, id, wanted))) throw new DomainError('account_exists');
  await deleteCodesTx(tx, id);
  // An unverified email address does not prove ownership, so it gets no right to undo the change.
  if (unverifiedSince === null) await insertEmailChangeTx(tx, { accountId: id, email, canonicalEmail, changedAt: now });
  await recordAccountEventTx(tx, { at: now, principal: mailbox, action: 'account.email_changed', accountId: id });
}

async function assertFewChangesTx(tx: Transaction, id: string, now: number): Promise<void> {
  const changes = await listEmailChanges(tx, id, emailChangesKeptSince(now));
  const oldest = changes.at(-1);
  if (!oldest || changes.length < limits.emailChangesMax) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((oldest.changedAt - emailChangesKeptSince(now)) / 1000));
  throw new DomainError('too_many_requests', { retryAfterSeconds });
}

/**
 * Restores the email address from before a change, and deletes that change and later ones. Ends every session, clears the
 * password and invalidates all codes.
 * @param emails the account as before the restoration, whose row is locked, and the change
 * @throws DomainError `account_exists` if another account has verified the email address since
 */
export async function restoreEmailTx(
  tx: Transaction,
  act: Act,
  { mailer, signInLimits }: { readonly mailer: Mailer; readonly signInLimits: SignInLimits },
  { account, change }: { readonly account: CredentialsRow; readonly change: EmailChangeRow },
): Promise<void> {
  const { principal, now } = act;
  const { id, email: replacedEmail, language } = account;
  const restored = { email: change.email, canonicalEmail: change.canonicalEmail };
  if (!(await setEmailTx(tx, act, id, restored))) throw new DomainError('account_exists');
  await voidPasswordTx(tx, id, now);
  await deleteCodesTx(tx, id);
  await deleteCodesTx(tx, id, 'set_email');
  await deleteEmailChangesTx(tx, id, change.epoch);
  // Clear the ranges that the thief, or the owner, signed in from with either email address.
  for (const changed of [account.canonicalEmail, change.canonicalEmail])
    await signInLimits.changeEmailOwnerTx(tx, changed);
  await recordAccountEventTx(tx, { at: now, principal, action: 'account.email_change_undone', accountId: id });
  const data = { newEmail: change.email, at: toInstant(now) };
  await queueMailTx(tx, mailer.prepare({ to: replacedEmail, language, template: 'email_changed', data }));
}

/** What an undo removes. */
export interface Restoration extends Act {
  readonly change: EmailChangeRow;
  /** Whether all API keys are deleted. */
  readonly revokesKeys: boolean;
  readonly trusted: TrustedUses;
  readonly isDisabled: boolean;
}

/**
 * Deletes the API keys that a thief may have created, rotated or given more rights, removes the second factors that a thief may
 * have added, and mails a link to set a new password to the restored email address.
 * @returns the ids of the deleted keys, and what stays
 */
export async function secureRestoredAccountTx(
  tx: Transaction,
  { codes, links, mailer }: MailParts,
  { principal, now, change, revokesKeys, trusted, isDisabled }: Restoration,
): Promise<{ readonly deletedIds: readonly number[]; readonly remaining: Remaining }> {
  const { accountId, email } = change;
  await removeSuspectFactorsTx(tx, principal, accountId, { isSuspect: suspicionOf(change, trusted), now });
  const keptIds = revokesKeys ? [] : await listTrustedKeysTx(tx, change, trusted);
  const which = revokesKeys ? {} : { changedSince: suspectSince(change), keptIds };
  const deletedIds = await deleteAccountKeysTx(tx, { principal, now }, accountId, which);
  const remaining = await remainingTx(tx, accountId);
  // A disabled account rejects a reset. An administrator who enables it can send a link.
  if (isDisabled) return { deletedIds, remaining };
  const { id: request, row } = codes.request(now);
  await insertCodeTx(tx, { ...row, purpose: 'reset_password', accountId });
  const keys = remaining.keys.map(({ nickname }) => nickname);
  const data = { keys, ...mailedFactors(remaining.factors) };
  const code = { request, page: 'reset-password', lifetime: links.lifetimes.reset } as const;
  await queueMailTx(tx, mailer.prepareWithCode({ to: email, codeTemplate: 'email_restored', data, code }));
  return { deletedIds, remaining };
}

/** Numbers and names, which need no translation. */
const mailedFactors = (factors: FactorsInForce | undefined) => ({
  authenticators: factors?.hasAuthenticator ? 1 : 0,
  recoveryCodes: factors?.recoveryCodes ?? 0,
  passkeys: (factors?.passkeys ?? []).map(({ name, createdAt }) => `${name} (${toInstant(createdAt)})`),
});
