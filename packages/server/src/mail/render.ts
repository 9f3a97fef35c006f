/** Turns what is to be said into what is sent. */
import type { MailMessage } from './mail.ts';
import { fill, type Value } from './templates/fill.ts';
import type { Templates } from './templates/templates.ts';

export interface RenderedMail {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const subjectCharsMax = 200;

/** @param product who speaks: what `{{product}}` stands for */
export function render(templates: Templates, product: string, { template, data }: MailMessage): RenderedMail {
  const values = new Map<string, Value>(Object.entries({ product, ...data }));
  const { subject, text, html } = templates[template];
  return {
    subject: fill(subject, values, 'subject').slice(0, subjectCharsMax),
    text: fill(text, values, 'text'),
    html: fill(html, values, 'html'),
  };
}
