/** The outbox's handler for mail: renders a message with the templates in force and hands it to the mail server. */
import type { Language } from '@keyreeve/contract';
import type { Handler } from '../outbox/outbox.ts';
import type { MailMessage } from './mail.ts';
import { render } from './render.ts';
import type { SmtpServer } from './smtp.ts';
import type { Templates } from './templates/templates.ts';

export interface DeliveryOptions {
  readonly server: SmtpServer;
  readonly product: string;
  /** Read when the first mail is sent. */
  readonly templates: () => Templates;
  /** Of the account with the email address; null when it has chosen none, undefined when there is no account. */
  readonly languageOf: (email: string) => Promise<Language | null | undefined>;
  readonly defaultLanguage: Language;
}

/** Does everything but send: for what `Mailer.prepareDecoy` has written. */
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
  return async ({ id, payload, createdAt }) => {
    // Written by `Mailer.prepare`, sealed since.
    const message = payload as MailMessage;
    const rendered = await renderFor(options, message);
    await server.send({ ...rendered, id, to: message.to, writtenAt: createdAt });
  };
}
