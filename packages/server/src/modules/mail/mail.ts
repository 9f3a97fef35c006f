/** Mail messages. A message is an outbox job that is written in the transaction of its cause. Templates contain the texts. */
import type { Language } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { insertJobTx, type NewJobRow } from '../outbox/store.ts';
import type { LinkKind } from './links.ts';

/** Values that exist when the mail is handed over. */
interface MailedCode {
  link: string;
  /** The code in the link. */
  code: string;
  expiresAt: string;
}

/** The values of each template in addition to the product's name. Links are complete URLs; times are ISO 8601. */
export interface MailData {
  /** To a new email address: complete the sign-up. */
  verify_email: MailedCode;
  /** To an email address that has an account, after a sign-up with it. */
  account_exists: { resetLink: string };
  reset_password: MailedCode & { keys: readonly string[]; clientIp: string };
  /** Sent by an administrator, for example for a compromised account. */
  reset_by_administrator: MailedCode & { keys: readonly string[] };
  invitation: MailedCode;
  /** To the new email address. */
  change_email: MailedCode;
  /** To the previous email address: when a change is requested, and when it has taken effect. */
  email_change_requested: { newEmail: string; at: string };
  email_changed: { newEmail: string; at: string };
  /** To the previous email address if it was verified, with a link that undoes the change. */
  email_changed_with_undo: MailedCode & { newEmail: string; at: string; keys: readonly string[] };
  /** To the restored email address. */
  email_restored: MailedCode & {
    keys: readonly string[];
    /** What stays in force: 1 for an authenticator app, or 0; the number of recovery codes; names and times of passkeys. */
    authenticators: number;
    recoveryCodes: number;
    passkeys: readonly string[];
  };
  /** To the current email address, when an administrator or an operator sets another one. */
  email_set_requested: { newEmail: string; at: string };
  password_changed: { at: string; clientIp: string; keys: readonly string[] };
  second_factor_added: { at: string; clientIp: string };
  second_factor_removed: { at: string; clientIp: string };
  /** Of an account that keeps its passkeys as second factor. */
  authenticator_removed: { at: string; clientIp: string };
  passkey_added: { name: string; at: string; clientIp: string };
  passkey_removed: { name: string; at: string; clientIp: string };
  /** The passkey may have been copied. */
  passkey_counter_regressed: { name: string; at: string; clientIp: string };
  recovery_code_used: { at: string; clientIp: string; remaining: number };
  /** After a sign-in that followed many failures. */
  suspicious_sign_in: { at: string; clientIp: string; userAgent: string; failures: number };
  /** Keys of the account `owner` that expire on one day: `count` of them, of which some are named. */
  keys_expiring: { day: string; owner: string; count: number; keys: readonly string[] };
  /** To the owner, or the managers of a service account, when another account or an operator creates a key. */
  api_key_created: { at: string; owner: string; key: string; scopes: readonly string[] };
  /** The same, when the administrator with the email address `by` creates it. */
  api_key_created_by_administrator: MailData['api_key_created'] & { by: string };
  /** The first key that `program` got in a client IP range, with a link that deletes it. */
  program_key_created: MailedCode & {
    at: string;
    program: string;
    clientRange: string;
    key: string;
    scopes: readonly string[];
  };
  /** To administrators. `by`: the email address of the one who created the key; `until`: its expiry. */
  management_key_created: {
    at: string;
    by: string;
    clientIp: string;
    owner: string;
    key: string;
    until: string;
    addresses: readonly string[];
  };
  /** Keys of the account `owner` that a leak has disabled: `count`, of which some are named; `others`: as `key_secrets_ended`. */
  keys_leaked: { at: string; owner: string; count: number; keys: readonly string[]; others: readonly string[] };
  /** Keys of the account `owner` of which a previous or short-lived secret has leaked and ended. */
  key_secrets_ended: { at: string; owner: string; count: number; keys: readonly string[] };
  account_deleted: { at: string };
}

export type MailTemplate = keyof MailData;

export interface MailMessage<T extends MailTemplate = MailTemplate> {
  /** The email address as the account has it. */
  readonly to: string;
  /** For an email address that has no account when the mail is sent. By default, the account's language applies. */
  readonly language?: Language | null;
  readonly template: T;
  readonly data: MailData[T];
  /** Of a mail that answers a request, in milliseconds: it is not handed over when the request is too old. */
  readonly requestedAt?: number;
}

/** Templates with a code that is made when the mail is handed over. */
export type CodeTemplate = {
  [Template in MailTemplate]: MailData[Template] extends MailedCode ? Template : never;
}[MailTemplate];

/** The code of a mail. */
export interface CodeOrder {
  /** Of `OneTimeCodes.request`. */
  readonly request: string;
  readonly page: LinkKind;
  /** Validity in seconds, from the time when the mail is handed over. */
  readonly lifetime: number;
}

export interface CodeMessage<T extends CodeTemplate = CodeTemplate> {
  readonly to: string;
  readonly language?: Language | null;
  /** Another name than in {@link MailMessage}: a message with a code is never sent without its link. */
  readonly codeTemplate: T;
  readonly data: Omit<MailData[T], keyof MailedCode>;
  readonly code: CodeOrder;
}

/** Prepares mail. Without a configured mail server, it prepares none. */
export class Mailer {
  readonly isConfigured: boolean;
  readonly #outbox: Outbox;

  constructor(outbox: Outbox, isConfigured: boolean) {
    this.#outbox = outbox;
    this.isConfigured = isConfigured;
  }

  /** Prepares a mail before the transaction, for {@link queueMailTx}. @returns undefined without a mail server */
  prepare<T extends MailTemplate>(message: MailMessage<T>): NewJobRow | undefined {
    return this.isConfigured ? this.#outbox.prepare('mail', 'mail', message) : undefined;
  }

  /** As {@link prepare}, for a mail with a code. */
  prepareWithCode<T extends CodeTemplate>(message: CodeMessage<T>): NewJobRow | undefined {
    return this.isConfigured ? this.#outbox.prepare('mail', 'mail', message) : undefined;
  }

  /**
   * Prepares a job that takes as long as the mail and sends none. It is for an email address without an account, so that
   * the processing after the response does not reveal which email addresses have one.
   */
  prepareDecoyWithCode<T extends CodeTemplate>(message: CodeMessage<T>): NewJobRow | undefined {
    return this.isConfigured ? this.#outbox.prepare('decoy', 'mail', message) : undefined;
  }

  /** Delays a prepared mail by a random time. */
  delayed(prepared: NewJobRow | undefined): NewJobRow | undefined {
    return prepared && this.#outbox.delayed(prepared);
  }

  /** To be called after the commit. */
  sendSoon(): void {
    this.#outbox.pollSoon();
  }
}

export async function queueMailTx(tx: Transaction, prepared: NewJobRow | undefined): Promise<void> {
  if (prepared) await insertJobTx(tx, prepared);
}
