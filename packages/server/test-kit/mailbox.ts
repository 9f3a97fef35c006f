/**
 * A real mail server on a free port of this machine that keeps what it is sent: as the envelope, as the bytes, and as a
 * mail program would read it.
 */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { monotonicMs } from '../src/foundation/clock.ts';

export interface ReceivedMail {
  /** Of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** All of it, as a mail program reads it. */
  readonly parsed: Email;
  readonly raw: string;
}

export interface MailboxOptions {
  /** 0 picks one. */
  readonly port?: number;
  /** What the server says to a recipient, for example `550 5.1.1 no such mailbox`; undefined to accept it. */
  readonly refuse?: (to: string) => string | undefined;
  /** What it says to a whole message, after it was read. */
  readonly refuseMessage?: (message: ReceivedMail) => string | undefined;
  /** Of the server itself. */
  readonly server?: SMTPServerOptions;
}

export interface Wanted {
  readonly to?: string;
  /** Words in it, or a pattern. */
  readonly subject?: string | RegExp;
}

/** On a slow and busy machine too. */
const waitMsMax = 30_000;

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

  static async start({ port = 0, refuse, refuseMessage, server: options }: MailboxOptions = {}): Promise<Mailbox> {
    const unread = new Set<ReceivedMail>();
    const arrivals = new EventTarget();
    const server = new SMTPServer({
      logger: false,
      disableReverseLookup: true,
      // On this machine nothing is encrypted, and nobody signs in, unless the test says so.
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
          return 'kept';
        };
        callbackify(take)((error, said) => done(error, said));
      },
      ...options,
    });
    // A client that hangs up is no failure of the test.
    server.on('error', () => undefined);
    const listener = server.listen(port, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const mailbox = new Mailbox(server, typeof address === 'object' ? (address?.port ?? 0) : 0, unread, arrivals);
    return mailbox;
  }

  /** For `newApp({ environment })` or a program. */
  get environment(): Readonly<Record<string, string>> {
    return {
      KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${this.port}`,
      KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
    };
  }

  /** What arrived and was not asked for yet. */
  get unread(): readonly ReceivedMail[] {
    return [...this.#unread];
  }

  /** The oldest unread message that fits; waits for it, with a bound. Each message is returned once. */
  async next(wanted: Wanted = {}): Promise<ReceivedMail> {
    const giveUpAt = monotonicMs() + waitMsMax;
    for (;;) {
      const found = this.unread.find((message) => fits(message, wanted));
      if (found) {
        this.#unread.delete(found);
        return found;
      }
      const leftMs = giveUpAt - monotonicMs();
      if (leftMs <= 0) throw new Error(`no mail ${describe(wanted)}; unread: ${this.unread.map(outline).join('; ')}`);
      await this.#arrival(leftMs);
    }
  }

  async #arrival(msMax: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#arrivals.addEventListener('arrival', () => resolve(), { once: true });
      timer = setTimeout(resolve, msMax);
    });
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** The one link of a message; the same in its text and its HTML. */
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
