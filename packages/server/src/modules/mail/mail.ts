/**
 * Mail: what is said, to whom. A message is a row of the outbox, written in the transaction of what causes it; how it
 * reads is its template's.
 */
import type { Language } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { insertJobTx, type NewJobRow } from '../outbox/store.ts';

/** What each template is given, beside the product's name. Links are whole URLs; times are ISO 8601. */
export interface MailData {
  /** To a new address: complete the sign-up. */
  verify_email: { link: string; expiresAt: string };
  /** To an address that has an account: somebody tried to sign up with it. */
  account_exists: { resetLink: string };
  reset_password: { link: string; expiresAt: string; keys: readonly string[]; address: string };
  /** An administrator sends it, perhaps because somebody has got into the account. */
  reset_by_administrator: { link: string; expiresAt: string; keys: readonly string[] };
  invitation: { link: string; expiresAt: string };
  /** To the new address. */
  change_email: { link: string; expiresAt: string };
  /** To the old address, when a change is asked for and when it has happened. */
  email_change_requested: { newEmail: string; at: string };
  email_changed: { newEmail: string; at: string };
  /** To the previous address, if it was verified: with the link that undoes the change. */
  email_changed_with_undo: {
    newEmail: string;
    at: string;
    undoLink: string;
    expiresAt: string;
    keys: readonly string[];
  };
  /** To the restored address. */
  email_restored: { link: string; expiresAt: string; keys: readonly string[] };
  /** To the present address, when an administrator or an operator sets another one. */
  email_set_requested: { newEmail: string; at: string };
  password_changed: { at: string; address: string; keys: readonly string[] };
  second_factor_added: { at: string; address: string };
  second_factor_removed: { at: string; address: string };
  recovery_code_used: { at: string; address: string; remaining: number };
  /** A sign-in after many failures. */
  suspicious_sign_in: { at: string; address: string; program: string; failures: number };
  account_deleted: { at: string };
}

export type MailTemplate = keyof MailData;

export interface MailMessage<T extends MailTemplate = MailTemplate> {
  /** As the account has it. */
  readonly to: string;
  /** For a recipient whose address has no account when the mail is sent; otherwise the account's own language applies. */
  readonly language?: Language | null;
  readonly template: T;
  readonly data: MailData[T];
}

/** Nothing is prepared where no mail is configured. */
export class Mailer {
  readonly isConfigured: boolean;
  readonly #outbox: Outbox;

  constructor(outbox: Outbox, isConfigured: boolean) {
    this.#outbox = outbox;
    this.isConfigured = isConfigured;
  }

  /** Before the transaction: for {@link queueMail} in it. Undefined where no mail is sent. */
  prepare<T extends MailTemplate>(message: MailMessage<T>): NewJobRow | undefined {
    return this.isConfigured ? this.#outbox.prepare('mail', 'mail', message) : undefined;
  }

  /**
   * A row that costs what the mail would, and sends none: for an email without an account, so that work after the
   * response doesn't show which emails have one.
   */
  prepareDecoy<T extends MailTemplate>(message: MailMessage<T>): NewJobRow | undefined {
    return this.isConfigured ? this.#outbox.prepare('decoy', 'mail', message) : undefined;
  }

  /** Has a prepared mail wait for a random time before it is sent. */
  delayed(prepared: NewJobRow | undefined): NewJobRow | undefined {
    return prepared && this.#outbox.delayed(prepared);
  }

  /** After the commit. */
  sendSoon(): void {
    this.#outbox.pollSoon();
  }
}

export async function queueMail(tx: Transaction, prepared: NewJobRow | undefined): Promise<void> {
  if (prepared) await insertJobTx(tx, prepared);
}
