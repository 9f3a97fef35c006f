/** Sends messages to the configured mail server (RFC 5321), over TLS unless the server is on this machine. */
import { JobFailure } from '../outbox/job.ts';
import { isLoopback } from '../../foundation/ip-address.ts';
import { lazily } from '../../foundation/lazy-modules.ts';
import type { Mark } from '../look/mark.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { RenderedMail } from './render.ts';
import type { Sender } from './sender.ts';
import { failureOf, NotSentError } from './smtp-failure.ts';
import { sendOverSession, type SendOptions, type SignIn, type SmtpTarget } from './smtp-session.ts';
import { isInMail, markId } from './templates/html.ts';
import { signInWith } from './smtp-sign-in.ts';

const loadComposer = lazily(() => import('nodemailer/lib/mail-composer'));

export interface OutgoingMail extends RenderedMail {
  /** The same at every attempt, so that a repeated message can be recognised. */
  readonly id: string;
  readonly to: string;
  /** Milliseconds since 1970 when the message was written. */
  readonly writtenAt: number;
}

export interface Sent {
  readonly messageId: string;
  /** The server's last reply. */
  readonly response: string;
}

export interface SmtpServerOptions {
  /** Whether a server with a private IP address needs no TLS. */
  readonly mayBePlain?: boolean;
  /** Attached to messages that show it. */
  readonly mark?: Mark | undefined;
  /** For a sign-in with XOAUTH2 instead of a password. */
  readonly accessTokens?: AccessTokens | undefined;
}

interface CurrentServer {
  readonly url: string;
  readonly target: SmtpTarget;
  readonly signIn: SignIn | undefined;
}

const oneAddress = /^[^\s<>@,;:"\\\p{C}]+@[^\s<>@,;:"\\\p{C}]+$/u;

/** Opens a connection for each message, so no stale connection is used. */
export class SmtpServer {
  readonly #url: () => string;
  readonly #from: Sender;
  readonly #options: SmtpServerOptions;
  #current: CurrentServer | undefined;

  /** @param url as KEYREEVE_SMTP_URL, for each message, because its password can change */
  constructor(url: () => string, from: Sender, options: SmtpServerOptions = {}) {
    this.#url = url;
    this.#from = from;
    this.#options = options;
  }

  /**
   * @throws JobFailure whose scope states whether the message, the recipient or the server is the reason, and errors of
   *   `beforeEnd`
   */
  async send(mail: OutgoingMail, { beforeEnd, msMax }: SendOptions = {}): Promise<Sent> {
    // Accounts have only such email addresses. The library would try to repair others.
    if (!oneAddress.test(mail.to)) throw new JobFailure('the recipient is not an email address', 'final');
    const { target, signIn } = this.#serverNow();
    try {
      const message = await this.#compose(mail);
      const beforeLastPart =
        beforeEnd && (() => beforeEnd().catch((error: unknown) => Promise.reject(new NotSentError(error))));
      const options = { beforeEnd: beforeLastPart, msMax };
      const response = await sendOverSession(target, message, signIn, options);
      return { messageId: message.messageId(), response };
    } catch (error) {
      throw failureOf(error, target);
    }
  }

  #serverNow(): CurrentServer {
    const url = this.#url();
    if (this.#current?.url !== url) {
      const { mayBePlain = false, accessTokens } = this.#options;
      const parsed = new URL(url);
      const user = decodeURIComponent(parsed.username);
      const signIn = user === '' ? undefined : signInWith(user, accessTokens ?? decodeURIComponent(parsed.password));
      this.#current = { url, target: targetOf(parsed, this.#from, mayBePlain), signIn };
    }
    return this.#current;
  }

  async #compose({ id, to, subject, text, html, writtenAt }: OutgoingMail) {
    const { name, address, domain } = this.#from;
    const { mark } = this.#options;
    const isShown = isInMail(mark) && html.includes(`"cid:${markId}"`);
    const { default: MailComposer } = await loadComposer();
    return new MailComposer({
      envelope: { from: address, to: [to] },
      from: { name, address },
      to: { name: '', address: to },
      subject,
      text,
      html,
      // A Buffer: the library would read text as the path of a file.
      ...(isShown && { attachments: [{ cid: markId, filename: 'mark.png', content: Buffer.from(mark.bytes) }] }),
      messageId: `<${id}@${domain}>`,
      date: new Date(writtenAt),
      // RFC 3834: suppresses automatic replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
      textEncoding: 'quoted-printable',
      disableFileAccess: true,
      disableUrlAccess: true,
    }).compile();
  }
}

function targetOf(url: URL, { domain: name }: Sender, mayBePlain: boolean): SmtpTarget {
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const isSecure = url.protocol === 'smtps:';
  const port = url.port === '' ? (isSecure ? 465 : 587) : Number(url.port);
  return { host, port, isSecure, isLocal: isLoopback(host), mayBePlain, name };
}
