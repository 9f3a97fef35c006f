/** What the outbox does with a mail: renders it with the templates in force and hands it to the mail server. */
import type { Handler } from '../outbox/outbox.ts';
import type { MailMessage } from './mail.ts';
import { render } from './render.ts';
import type { Sender } from './sender.ts';
import type { SmtpServer } from './smtp.ts';
import type { Templates } from './templates/templates.ts';

export interface DeliveryOptions {
  readonly server: SmtpServer;
  readonly product: string;
  /** Read when the first mail is sent. */
  readonly templates: () => Templates;
}

/** Who speaks to the reader: the name in the sender, else the host that people know. */
export const productOf = ({ name }: Sender, publicUrl: string): string => name || new URL(publicUrl).hostname;

export function deliverMail({ server, product, templates }: DeliveryOptions): Handler {
  return async ({ id, payload, createdAt }) => {
    // Written by `Mailer.prepare`, sealed since.
    const message = payload as MailMessage;
    const rendered = render(templates(), product, message);
    await server.send({ ...rendered, id, to: message.to, writtenAt: createdAt });
  };
}
