/** The HTML form of a template that has only a text form: the operator's name, paragraphs, and a button for its link. */
import type { Language } from '@keyreeve/contract';
import { Html, readPage, readTemplates } from '../../../http/html.ts';
import type { PlainTemplate } from './built-in.ts';
import { escapeHtml } from './fill.ts';
import { ownFile } from '../../../foundation/own-files.ts';

const { template } = readPage(ownFile('modules/mail/templates/mail.html'));
const parts = readTemplates(ownFile('modules/mail/templates/mail-parts.html'), ['text', 'link']);

/** A paragraph that consists of a link. */
const linkAlone = /^\{\{\w*[lL]ink\}\}$/;

/** @returns a template: it keeps the placeholders, and the texts around them are escaped */
export function htmlOf({ subject, text, button = '' }: PlainTemplate, language: Language): string {
  const paragraphs = text
    .split('\n\n')
    .map((paragraph) =>
      linkAlone.test(paragraph)
        ? parts.link({ url: paragraph, label: button === '' ? paragraph : button })
        : parts.text({ text: new Html(escapeHtml(paragraph).replaceAll('\n', '<br>\n')) }),
    );
  return template({ language, subject, product: '{{product}}', paragraphs }).text;
}
