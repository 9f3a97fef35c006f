/** Classifies failures of a session for the outbox, and states what an operator can change. */
import { JobFailure } from '../outbox/job.ts';
import { SessionError, TlsPortError, type SmtpTarget } from './smtp-session.ts';

/** An error of the mail library or of a socket. */
interface SmtpError {
  /** The command that the server answered. */
  readonly command?: string;
  readonly responseCode?: number;
  readonly code?: string;
  /** The code of the system or of OpenSSL. */
  readonly originalCode?: string;
  readonly message?: string;
}

const reasonCharsMax = 200;

/**
 * - `unknown`: the whole message was sent, and no reply arrived.
 * - `final`: the server permanently rejected the recipient, except for reasons of policy (RFC 3463 5.7.x: no relaying, a
 *   blocked sender), which the operator can resolve.
 * - `job`: the server rejected or deferred this message.
 * - `queue`: the server was not reached, rejected the sign-in or the sender, or shuts down.
 */
export function failureOf(error: unknown, target: SmtpTarget): Error {
  const cause = error instanceof SessionError ? error.cause : error;
  // For example a lost job, or a database that is down: no failure of the mail server.
  if (cause instanceof NotSentError) return cause.cause;
  const { command = '', responseCode, code = '', message = '' } = cause as SmtpError;
  const reason = withoutSecrets(message);
  if (error instanceof SessionError && error.isHandedOver && responseCode === undefined)
    return new JobFailure(`the mail server: ${reason}; it may have accepted the message`, 'unknown');
  if (code === 'EENVELOPE' && responseCode === undefined) return new JobFailure(reason, 'final');
  const isAboutThis = /^(?:RCPT TO|DATA)/.test(command) && responseCode !== undefined && responseCode !== 421;
  if (!isAboutThis) return new JobFailure(`the mail server: ${reason}${remedyFor(cause, target)}`, 'queue');
  const isRecipient = command.startsWith('RCPT TO') && responseCode >= 500 && !/\b5\.7\.\d+/.test(message);
  return new JobFailure(`the mail server: ${reason}`, isRecipient ? 'final' : 'job');
}

/** What `beforeEnd` threw. */
export class NotSentError extends Error {
  override readonly cause: Error;

  constructor(cause: unknown) {
    super('the message was not sent');
    this.cause = cause instanceof Error ? cause : new Error(String(cause));
  }
}

interface Remedy {
  readonly fits: (error: SmtpError, text: string, target: SmtpTarget) => boolean;
  readonly text: (target: SmtpTarget) => string;
}

const toEncode = 'Percent-encode special characters there, for example # as %23 and @ as %40';

/** The first that fits is shown. */
const remedies: readonly Remedy[] = [
  {
    fits: (error) => error instanceof TlsPortError,
    text: ({ port }) =>
      `Port ${port} expects TLS from the start: begin KEYREEVE_SMTP_URL with smtps:// instead of smtp://`,
  },
  {
    fits: (_, text, { isSecure }) =>
      isSecure && /wrong version number|packet length too long|record layer failure|unknown protocol/i.test(text),
    text: ({ port }) =>
      `Port ${port} does not begin with TLS: begin KEYREEVE_SMTP_URL with smtp:// instead of smtps://, so that STARTTLS is used`,
  },
  {
    fits: ({ command = '' }, text) => command === 'STARTTLS' || text.includes('required STARTTLS'),
    text: () =>
      'The server offers no STARTTLS on this port. Use a port with it (587) or with TLS (smtps://, 465); for a relay on a private network, set KEYREEVE_SMTP_WITHOUT_TLS=accept',
  },
  {
    fits: (_, text) => /ALTNAME|altnames/.test(text),
    text: () => 'Use the host name of the server’s certificate in KEYREEVE_SMTP_URL',
  },
  {
    fits: (_, text) => /CERT_HAS_EXPIRED|certificate has expired/.test(text),
    text: () => 'The certificate of the mail server has expired: renew it',
  },
  {
    fits: (_, text) => /certificate|SELF_SIGNED|UNABLE_TO_/i.test(text),
    text: () => 'For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file with its certificate',
  },
  {
    fits: (_, text) => /ENOTFOUND|EAI_AGAIN/.test(text),
    text: () => 'Check the host name in KEYREEVE_SMTP_URL',
  },
  {
    fits: (_, text) => text.includes('ECONNREFUSED'),
    text: ({ port }) =>
      `Nothing accepts connections on port ${port}: mail servers usually accept mail on 587 (smtp://) or 465 (smtps://)`,
  },
  {
    fits: (_, text) => /for a connection|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(text),
    text: ({ port }) =>
      `A firewall may block port ${port}: many networks block 25, but not 587 (smtp://) and 465 (smtps://)`,
  },
  {
    fits: (_, text) => /basic authentication is disabled|5\.7\.139/i.test(text),
    text: () =>
      'The provider accepts no passwords: set KEYREEVE_SMTP_OAUTH_TOKEN_URL and the settings that belong to it',
  },
  {
    fits: ({ command = '', code }) => command.startsWith('AUTH') || code === 'EAUTH',
    text: () => `Check the user name and the password in KEYREEVE_SMTP_URL. ${toEncode}`,
  },
  {
    fits: ({ responseCode }) => responseCode === 530,
    text: () => 'The server requires a sign-in: add the user name and the password to KEYREEVE_SMTP_URL',
  },
  {
    fits: (_, text) => /waited .* for the greeting|Connection closed unexpectedly|Invalid greeting/.test(text),
    text: ({ isSecure }) =>
      `Check that a mail server listens on this port, and that ${isSecure ? 'it begins with TLS (otherwise use smtp://)' : 'it does not expect TLS from the start (otherwise use smtps://)'}`,
  },
];

/** @returns a sentence for operators, which has no value from the server; empty if none is known */
function remedyFor(cause: unknown, target: SmtpTarget): string {
  const error = cause as SmtpError;
  const { code = '', originalCode = '', message = '' } = error;
  const found = remedies.find(({ fits }) => fits(error, `${code} ${originalCode} ${message}`, target));
  return found ? `. ${found.text(target)}` : '';
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
