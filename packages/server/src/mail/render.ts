/** Turns what is to be said into what is sent. */
import type { MailMessage } from './mail.ts';
import { fill, type Value } from './templates/fill.ts';
import type { Template, Templates } from './templates/templates.ts';

export interface RenderedMail {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const subjectCharsMax = 200;

/** @param product who speaks: what `{{product}}` stands for */
export const render = (templates: Templates, product: string, { template, data }: MailMessage): RenderedMail =>
  renderTemplate(templates[template], new Map<string, Value>(Object.entries({ product, ...data })));

export const renderTemplate = (
  { subject, text, html }: Template,
  values: ReadonlyMap<string, Value>,
): RenderedMail => ({
  subject: fill(subject, values, 'subject').slice(0, subjectCharsMax),
  text: fill(text, values, 'text'),
  html: fill(html, values, 'html'),
});
