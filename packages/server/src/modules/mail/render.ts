/** Renders a message with its template in the recipient's language. */
import type { Language } from '@keyreeve/contract';
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

/** @param product the operator's name, for `{{product}}` */
export const render = (
  templates: Templates,
  product: string,
  { template, data }: MailMessage,
  language: Language,
): RenderedMail =>
  renderTemplate(templates[language][template], new Map<string, Value>(Object.entries({ product, ...data })), language);

export const renderTemplate = (
  { subject, text, html }: Template,
  values: ReadonlyMap<string, Value>,
  language: Language,
): RenderedMail => ({
  subject: fill(subject, values, 'subject', language).slice(0, subjectCharsMax),
  text: fill(text, values, 'text', language),
  html: fill(html, values, 'html', language),
});
