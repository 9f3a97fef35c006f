/** The HTML form of a template that has only a text form: the operator's name, paragraphs, and a button for its link. */
import type { Language } from '@keyreeve/contract';
import { Html, readPage, readTemplates } from '../../../http/html.ts';
import type { Look } from '../../look/look.ts';
import type { Mark } from '../../look/mark.ts';
import type { PlainTemplate } from './built-in.ts';
import { escapeHtml } from './fill.ts';
import { ownFile } from '../../../foundation/own-files.ts';

const { template } = readPage(ownFile('modules/mail/templates/mail.html'));
const parts = readTemplates(ownFile('modules/mail/templates/mail-parts.html'), ['mark', 'text', 'link']);

/** A paragraph that consists of a link. */
const linkAlone = /^\{\{\w*[lL]ink\}\}$/;

/** Of the light theme: mail programs change colours in their dark one. */
const buttonColours = { fill: '#3450d2', onFill: '#ffffff' } as const;

export type MailLook = Partial<Pick<Look, 'mark' | 'accent'>>;

/** The mark is an attachment (smtp.ts), because mail programs load no images from elsewhere, and no SVG. */
export const markId = 'mark';
export const isInMail = (mark: Mark | undefined): mark is Mark => mark?.contentType === 'image/png';

/** @returns a template: it keeps the placeholders, and the texts around them are escaped */
export function htmlOf(
  { subject, text, button = '' }: PlainTemplate,
  language: Language,
  { mark, accent }: MailLook = {},
): string {
  const { fill, onFill } = accent?.light ?? buttonColours;
  const paragraphs = text
    .split('\n\n')
    .map((paragraph) =>
      linkAlone.test(paragraph)
        ? parts.link({ url: paragraph, label: button === '' ? paragraph : button, fill, onFill })
        : parts.text({ text: new Html(escapeHtml(paragraph).replaceAll('\n', '<br>\n')) }),
    );
  const marks = isInMail(mark) ? [parts.mark({ id: markId })] : [];
  return template({ language, subject, product: '{{product}}', mark: marks, paragraphs }).text;
}
