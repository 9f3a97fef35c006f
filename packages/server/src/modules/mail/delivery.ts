/** The outbox's handler for mail: renders a message with its template and sends it to the mail server. */
import type { Language } from '@keyreeve/contract';
import type { Handler } from '../outbox/outbox.ts';
import type { MailMessage } from './mail.ts';
import { render } from './render.ts';
import type { SmtpServer } from './smtp.ts';
import type { Templates } from './templates/templates.ts';

export interface DeliveryOptions {
  readonly server: SmtpServer;
  readonly product: string;
  /** Called when the first mail is sent. */
  readonly templates: () => Templates;
  /** Language of the account with the email address. Null if it has none, undefined without an account. */
  readonly languageOf: (email: string) => Promise<Language | null | undefined>;
  readonly defaultLanguage: Language;
}

/** A session that takes longer delays no other mail: a server may take minutes for each reply. */
const slowMs = 5_000;

/** Handles a job of `Mailer.prepareDecoy`: renders the mail and does not send it. */
export const renderDecoy =
  (options: DeliveryOptions): Handler =>
  async ({ payload }) =>
    void (await renderFor(options, payload as MailMessage));

async function renderFor(options: DeliveryOptions, message: MailMessage) {
  const { product, templates, languageOf, defaultLanguage } = options;
  const language = message.language ?? (await languageOf(message.to)) ?? defaultLanguage;
  return render(templates(), product, message, language);
}

export function deliverMail(options: DeliveryOptions): Handler {
  const { server } = options;
  return async ({ id, payload, createdAt, handOver, freeSlot }) => {
    // `Mailer.prepare` wrote and sealed it.
    const message = payload as MailMessage;
    const rendered = await renderFor(options, message);
    const slow = setTimeout(freeSlot, slowMs);
    try {
      const mail = { ...rendered, id, to: message.to, writtenAt: createdAt };
      await server.send(mail, { beforeEnd: () => handOver() });
    } finally {
      clearTimeout(slow);
    }
  };
}
