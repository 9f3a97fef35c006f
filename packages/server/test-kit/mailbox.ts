/**
 * A real mail server on a free port of this machine. It keeps the envelope, the bytes and the parsed form of each
 * message.
 */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { awaited } from './until.ts';

export interface ReceivedMail {
  /** From the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The parsed message. */
  readonly parsed: Email;
  readonly raw: string;
}

export interface MailboxOptions {
  /** 0 picks one. */
  readonly port?: number;
  /** The reply to a recipient, for example `550 5.1.1 no such mailbox`; undefined to accept the recipient. */
  readonly refuse?: (to: string) => string | undefined;
  /** The reply to a complete message. */
  readonly refuseMessage?: (message: ReceivedMail) => string | undefined;
  /** Awaited before the reply to a complete message, which has arrived. */
  readonly beforeReply?: (message: ReceivedMail) => Promise<void>;
  /** Options of the server library. */
  readonly server?: SMTPServerOptions;
}

export interface Wanted {
  readonly to?: string;
  /** A part of the subject, or a pattern. */
  readonly subject?: string | RegExp;
}

export class Mailbox implements AsyncDisposable {
  readonly port: number;
  /** Everything that arrived, in order. */
  readonly messages: ReceivedMail[] = [];
  readonly #server: SMTPServer;
  readonly #unread: Set<ReceivedMail>;
  readonly #arrivals: EventTarget;

  private constructor(server: SMTPServer, port: number, unread: Set<ReceivedMail>, arrivals: EventTarget) {
    this.#server = server;
    this.port = port;
    this.#unread = unread;
    this.#arrivals = arrivals;
  }

  static async start({
    port = 0,
    refuse,
    refuseMessage,
    beforeReply,
    server: options,
  }: MailboxOptions = {}): Promise<Mailbox> {
    const unread = new Set<ReceivedMail>();
    const arrivals = new EventTarget();
    const server = new SMTPServer({
      logger: false,
      disableReverseLookup: true,
      // By default, connections are not encrypted and need no sign-in.
      disabledCommands: ['STARTTLS', 'AUTH'],
      closeTimeout: 1_000,
      onRcptTo: ({ address }, _, done) => done(errorOf(refuse?.(address))),
      onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
        const from = mailFrom === false ? '' : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        const take = async (): Promise<string> => {
          const message = await receive(stream, from, to);
          const refusal = errorOf(refuseMessage?.(message));
          if (refusal) throw refusal;
          unread.add(message);
          mailbox.messages.push(message);
          arrivals.dispatchEvent(new Event('arrival'));
          await beforeReply?.(message);
          return 'kept';
        };
        callbackify(take)((error, said) => done(error, said));
      },
      ...options,
    });
    // A client that disconnects is no failure of the test.
    server.on('error', () => undefined);
    const listener = server.listen(port, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const mailbox = new Mailbox(server, typeof address === 'object' ? (address?.port ?? 0) : 0, unread, arrivals);
    return mailbox;
  }

  /** Settings for `newApp({ environment })` or a service process. */
  get environment(): Readonly<Record<string, string>> {
    return {
      KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${this.port}`,
      KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
    };
  }

  /** Messages that `next` has not returned yet. */
  get unread(): readonly ReceivedMail[] {
    return [...this.#unread];
  }

  /** Waits for the oldest unread message that matches. Each message is returned once. */
  async next(wanted: Wanted = {}): Promise<ReceivedMail> {
    for (;;) {
      const found = this.unread.find((message) => fits(message, wanted));
      if (found) {
        this.#unread.delete(found);
        return found;
      }
      const unread = this.unread.map(outline).join('; ') || 'none';
      await awaited(`a mail ${describe(wanted)} arrives (unread: ${unread})`, (signal) =>
        once(this.#arrivals, 'arrival', { signal }),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** The only link of a message, which is the same in text and HTML. */
export function linkIn({ text, html }: ReceivedMail): string {
  const links = text.match(/https?:\/\/\S+/g) ?? [];
  const [link] = links;
  if (link === undefined || links.length > 1) throw new Error(`a mail with ${links.length} links:\n${text}`);
  if (!html.includes(`href="${link.replaceAll('&', '&amp;')}"`)) throw new Error(`its HTML has another link:\n${html}`);
  return link;
}

/** The code in that link. */
export const codeIn = (message: ReceivedMail): string => new URL(linkIn(message)).hash.slice(1);

async function receive(stream: AsyncIterable<Uint8Array>, from: string, to: readonly string[]): Promise<ReceivedMail> {
  const bytes = await buffer(stream);
  const parsed = await PostalMime.parse(bytes);
  const { subject = '', text = '', html = '' } = parsed;
  return { from, to, subject, text, html, parsed, raw: bytes.toString('latin1') };
}

/** @param reply `550 5.1.1 no such mailbox` */
function errorOf(reply: string | undefined): Error | undefined {
  if (reply === undefined) return undefined;
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
}

const fits = (message: ReceivedMail, { to, subject }: Wanted): boolean =>
  (to === undefined || message.to.some((address) => address.toLowerCase() === to.toLowerCase())) &&
  (subject === undefined ||
    (typeof subject === 'string' ? message.subject.includes(subject) : subject.test(message.subject)));

const outline = ({ to, subject }: ReceivedMail): string => `to ${to.join(', ')}: ${subject}`;
const describe = ({ to, subject }: Wanted): string => `to ${to ?? 'anybody'} about ${String(subject ?? 'anything')}`;
