/**
 * The outbox's handlers for mail: they render a message with its template and send it to the mail server. The code of a link is
 * made then, so that no code waits in the outbox and its validity begins when the message is handed over.
 */
import { limits, type Language } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { toInstant, type Clock } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Code, OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import { deleteCode, isCodeRequested, issueCodeTx } from '../one-time-codes/store.ts';
import { JobFailure, type Handler } from '../outbox/job.ts';
import type { Links } from './links.ts';
import type { CodeMessage, CodeOrder, MailMessage, MailTemplate } from './mail.ts';
import { render } from './render.ts';
import type { SmtpServer } from './smtp.ts';
import type { Templates } from './templates/templates.ts';

/** What the log of mail has of an attempt. */
export interface TriedMail {
  /** Of the job. */
  readonly id: string;
  readonly to: string;
  readonly template: MailTemplate;
  readonly createdAt: number;
}

export interface DeliveryOptions extends Core {
  readonly codes: OneTimeCodes;
  readonly links: Links;
  readonly server: SmtpServer;
  readonly product: string;
  /** Called when the first mail is sent. */
  readonly templates: () => Templates;
  /** Language of the account with the email address. Null if it has none, undefined without an account. */
  readonly languageOf: (email: string) => Promise<Language | null | undefined>;
  readonly defaultLanguage: Language;
  /** Records an attempt in the log of mail. @param failure null if the mail server has accepted the mail */
  readonly recordTx: (tx: Transaction, mail: TriedMail, failure: string | null) => Promise<void>;
}

/** A session that takes longer delays no other mail: a server may take minutes for each reply. */
const slowMs = 5_000;

/** The request has expired, or was deleted with its account or with the account's codes: the mail is of no use. */
class RequestGone extends Error {}

/** Handles a job of `Mailer.prepareDecoyWithCode`: does what a mail needs, except to send it. */
export const renderDecoy =
  (options: DeliveryOptions): Handler =>
  async ({ id, payload, createdAt }) => {
    const message = payload as MailMessage | CodeMessage;
    const { db, clock, codes, recordTx } = options;
    // No account has this recipient, so the log gets no entry.
    const decoyTx = (tx: Transaction) => recordTx(tx, { id, to: '', template: templateOf(message), createdAt }, null);
    if (!('code' in message)) {
      await renderFor(options, message);
      return decoyTx;
    }
    const code = codes.make();
    await isCodeRequested(db, codes.hashOfRequest(message.code.request), clock.now());
    await renderFor(options, withCode(options, message, code));
    await db.transaction((tx) => issueTx(options, tx, message.code, code)).catch(ignoreGone);
    return decoyTx;
  };

export function deliverMail(options: DeliveryOptions): Handler {
  const { server, db, clock, codes, recordTx } = options;
  return async ({ id, payload, createdAt, handOver, freeSlot }) => {
    // `Mailer` wrote and sealed it. A version before this one wrote the code into `data`.
    const message = payload as MailMessage | CodeMessage;
    const order = 'code' in message ? message.code : undefined;
    if (order && !(await isCodeRequested(db, codes.hashOfRequest(order.request), clock.now()))) return undefined;
    if ('template' in message && isTooOld(message, clock)) return undefined;
    const tried = { id, to: message.to, template: templateOf(message), createdAt };
    const code = codes.make();
    const rendered = await renderFor(options, 'code' in message ? withCode(options, message, code) : message);
    const slow = setTimeout(freeSlot, slowMs);
    try {
      const beforeEnd = async (): Promise<void> => {
        // The session may have taken minutes.
        if ('template' in message && isTooOld(message, clock)) throw new RequestGone('the request is too old');
        await handOver(order && ((tx) => issueTx(options, tx, order, code)));
      };
      await server.send({ ...rendered, id, to: message.to, writtenAt: createdAt }, { beforeEnd });
    } catch (error) {
      if (error instanceof RequestGone) return undefined;
      // The server has rejected the message, so the next attempt has a code of its own. If no reply arrived, the code stays valid.
      if (order && !(error instanceof JobFailure && error.scope === 'unknown')) await deleteCode(db, code.hash);
      // A failure to record it does not change what follows from the failure of the mail.
      if (error instanceof JobFailure)
        await db.transaction((tx) => recordTx(tx, tried, error.message)).catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(slow);
    }
    return (tx) => recordTx(tx, tried, null);
  };
}

const templateOf = (message: MailMessage | CodeMessage): MailTemplate =>
  'template' in message ? message.template : message.codeTemplate;

const isTooOld = ({ requestedAt }: MailMessage, clock: Clock): boolean =>
  requestedAt !== undefined && clock.now() - requestedAt > limits.codeRequestSeconds * 1000;

async function renderFor(options: DeliveryOptions, message: MailMessage) {
  const { product, templates, languageOf, defaultLanguage } = options;
  const language = message.language ?? (await languageOf(message.to)) ?? defaultLanguage;
  return render(templates(), product, message, language);
}

/** The stated end of the validity is before the real one by the time that the session takes. */
function withCode({ clock, links }: DeliveryOptions, message: CodeMessage, { text }: Code): MailMessage {
  const { to, language, codeTemplate: template, code } = message;
  const link = links.to(code.page, text);
  const expiresAt = toInstant(clock.now() + code.lifetime * 1000);
  const data = { ...message.data, link, code: text.reveal(), expiresAt } as MailMessage['data'];
  return { to, template, data, ...(language === undefined ? {} : { language }) };
}

/** @throws RequestGone */
async function issueTx(
  { clock, codes }: DeliveryOptions,
  tx: Transaction,
  order: CodeOrder,
  { hash }: Code,
): Promise<void> {
  const now = clock.now();
  const requestHash = codes.hashOfRequest(order.request);
  if (!(await issueCodeTx(tx, { requestHash, hash, expiresAt: now + order.lifetime * 1000 }, now)))
    throw new RequestGone('the request for the code is gone');
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof RequestGone)) throw error;
}
