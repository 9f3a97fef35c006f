/**
 * Sends messages to the configured mail server (RFC 5321), over TLS unless the server is on this machine, and classifies
 * failures for the outbox.
 */
import type { SMTPTransportOptions, Transporter } from 'nodemailer';
import { JobFailure } from '../outbox/outbox.ts';
import { isLoopback } from '../../foundation/ip-address.ts';
import type { RenderedMail } from './render.ts';
import type { Sender } from './sender.ts';

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

/** From the connection to the last reply. The outbox's claim is longer. */
const sendMsMax = 60_000;
const connectMsMax = 10_000;
const silenceMsMax = 20_000;
const reasonCharsMax = 200;
const oneAddress = /^[^\s<>@,;:"\\\p{C}]+@[^\s<>@,;:"\\\p{C}]+$/u;

/** Opens a connection for each message, so no stale connection is used. */
export class SmtpServer {
  readonly #options: SMTPTransportOptions;
  readonly #from: Sender;
  #transport: Promise<Transporter> | undefined;

  /** @param url as KEYREEVE_SMTP_URL */
  constructor(url: string, from: Sender) {
    this.#options = optionsOf(new URL(url), from);
    this.#from = from;
  }

  /** @throws JobFailure whose scope states whether the message, the recipient or the server is the reason */
  async send({ id, to, subject, text, html, writtenAt }: OutgoingMail): Promise<Sent> {
    const { name, address, domain } = this.#from;
    // Accounts have only such email addresses. The library would try to repair others.
    if (!oneAddress.test(to)) throw new JobFailure('the recipient is not an email address', 'final');
    // Loaded when first needed: most processes send nothing.
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
        // RFC 3834: suppresses automatic replies.
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
    // Connections to another machine are encrypted (RFC 8314). Those on this machine need no encryption, and a local mail
    // server rarely has a certificate.
    requireTLS: !secure && !isLocal,
    ignoreTLS: !secure && isLocal,
    // Explicit, because an environment variable of Node could disable the verification.
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    // Without it, every mail would contain the name of this machine.
    name: domain,
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    dnsTimeout: connectMsMax,
    socketTimeout: silenceMsMax,
  };
}

/**
 * - `final`: the server permanently rejected the recipient, except for reasons of policy (RFC 3463 5.7.x: no relaying, a
 *   blocked sender), which the operator can resolve.
 * - `work`: the server rejected or deferred this message.
 * - `queue`: the server was not reached, rejected the sign-in or the sender, or shuts down.
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
  const reason = withoutSecrets(message);
  if (code === 'EENVELOPE' && responseCode === undefined) return new JobFailure(reason, 'final');
  const isAboutThis = /^(?:RCPT TO|DATA)/.test(command) && responseCode !== undefined && responseCode !== 421;
  if (!isAboutThis) return new JobFailure(`the mail server: ${reason}`, 'queue');
  const isRecipient = command.startsWith('RCPT TO') && responseCode >= 500 && !/\b5\.7\.\d+/.test(message);
  return new JobFailure(`the mail server: ${reason}`, isRecipient ? 'final' : 'job');
}

function withoutSecret(word: string): string {
  if (word.includes('://')) return '[link]';
  if (word.includes('krvc_')) return '[code]';
  return word.includes('@') ? '[address]' : word;
}

/** A server's reply may repeat an email address, or the link in a message. */
const withoutSecrets = (text: string): string =>
  text
    .replaceAll(/\S+/g, withoutSecret)
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, reasonCharsMax);
