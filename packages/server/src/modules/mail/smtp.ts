/**
 * Sends one message to the configured mail server (RFC 5321), over TLS unless that server is this machine, and says
 * what a failure means for the rest.
 */
import type { SMTPTransportOptions, Transporter } from 'nodemailer';
import { JobFailure } from '../outbox/outbox.ts';
import { isLoopback } from '../../foundation/ip-address.ts';
import type { RenderedMail } from './render.ts';
import type { Sender } from './sender.ts';

export interface OutgoingMail extends RenderedMail {
  /** The same at every attempt, so that a message that arrives twice can be recognised. */
  readonly id: string;
  readonly to: string;
  /** Milliseconds since 1970: when it was written, not when it is sent. */
  readonly writtenAt: number;
}

export interface Sent {
  readonly messageId: string;
  /** What the server said last. */
  readonly response: string;
}

/** From the address to the last answer; the outbox's claim is longer. */
const sendMsMax = 60_000;
const connectMsMax = 10_000;
const silenceMsMax = 20_000;
const saidCharsMax = 200;
const oneAddress = /^[^\s<>@,;:"\\\p{C}]+@[^\s<>@,;:"\\\p{C}]+$/u;

/** A new connection for each message: nothing to keep alive, nothing that has gone stale. */
export class SmtpServer {
  readonly #options: SMTPTransportOptions;
  readonly #from: Sender;
  #transport: Promise<Transporter> | undefined;

  /** @param url as KEYREEVE_SMTP_URL */
  constructor(url: string, from: Sender) {
    this.#options = optionsOf(new URL(url), from);
    this.#from = from;
  }

  /** @throws JobFailure that says whether the message, the recipient or the way was refused */
  async send({ id, to, subject, text, html, writtenAt }: OutgoingMail): Promise<Sent> {
    const { name, address, domain } = this.#from;
    // Accounts have no other; a library's mending of what isn't one is not to be relied on.
    if (!oneAddress.test(to)) throw new JobFailure('the recipient is no address', 'final');
    // Loaded when first needed: most starts send nothing.
    this.#transport ??= import('nodemailer').then(({ createTransport }) => createTransport(this.#options));
    const transport = await this.#transport;
    try {
      const messageId = `<${id}@${domain}>`;
      const { response = '' } = await transport.sendMail({
        envelope: { from: address, to: [to] },
        from: { name, address },
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId,
        date: new Date(writtenAt),
        // RFC 3834: no automatic answers to it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        xMailer: false,
        textEncoding: 'quoted-printable',
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.timeout(sendMsMax),
      });
      return { messageId, response };
    } catch (error) {
      throw failureOf(error);
    }
  }
}

function optionsOf(url: URL, { domain }: Sender): SMTPTransportOptions {
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const secure = url.protocol === 'smtps:';
  const isLocal = isLoopback(host);
  return {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // On the way to another machine nothing goes in plain text (RFC 8314). On this one nobody else listens, and its mail
    // server seldom has a certificate for it.
    requireTLS: !secure && !isLocal,
    ignoreTLS: !secure && isLocal,
    // Said aloud: an environment variable of Node could turn it off.
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    // Otherwise the name of this machine would be in every mail.
    name: domain,
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    dnsTimeout: connectMsMax,
    socketTimeout: silenceMsMax,
  };
}

/**
 * - the recipient was refused for good: `final`. Not when the server says that its rules are the reason (RFC 3463 5.7.x:
 *   no relaying, a blocked sender), because those are the operator's to mend.
 * - this message was refused, or put off: `work`.
 * - the server wasn't reached, said no to the sign-in or to the sender, or is going away: `queue`.
 */
function failureOf(error: unknown): JobFailure {
  const {
    command = '',
    responseCode,
    code = '',
    message = '',
  } = error as {
    command?: string;
    responseCode?: number;
    code?: string;
    message?: string;
  };
  const said = withoutSecrets(message);
  if (code === 'EENVELOPE' && responseCode === undefined) return new JobFailure(said, 'final');
  const isAboutThis = /^(?:RCPT TO|DATA)/.test(command) && responseCode !== undefined && responseCode !== 421;
  if (!isAboutThis) return new JobFailure(`the mail server: ${said}`, 'queue');
  const isRecipient = command.startsWith('RCPT TO') && responseCode >= 500 && !/\b5\.7\.\d+/.test(message);
  return new JobFailure(`the mail server: ${said}`, isRecipient ? 'final' : 'job');
}

/** A server may repeat what it refuses: an address, or the link in a message. */
const withoutSecrets = (text: string): string =>
  text
    .replaceAll(/\S*:\/\/\S*/g, '[link]')
    .replaceAll(/\S*krvc_\S*/g, '[code]')
    .replaceAll(/\S*@\S*/g, '[address]')
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, saidCharsMax);
