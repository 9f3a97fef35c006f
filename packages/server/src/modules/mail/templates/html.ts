/** The HTML form of a template that has a text form only: the operator's name, paragraphs, and a button for its link. */
import type { Language } from '@keyreeve/contract';
import type { PlainTemplate } from './built-in.ts';
import { escapeHtml } from './fill.ts';

/** A paragraph that is nothing but a link. */
const linkAlone = /^\{\{(\w*[lL]ink)\}\}$/;

const styles = {
  body: 'font: 16px/1.5 sans-serif; max-width: 36em; margin: 2em auto; padding: 0 1em; color: #1a1a1a; background: #ffffff',
  operator: 'font-size: 18px; font-weight: bold; margin: 0 0 1.5em',
  button:
    'display: inline-block; padding: 12px 24px; border-radius: 6px; font-weight: bold; text-decoration: none; color: #ffffff; background: #1f4fb2',
  // For a reader whose mail program shows no button, and to copy into another browser.
  url: 'font-size: 13px; color: #555555; word-break: break-all',
} as const;

/** @returns a template too: its placeholders are still in it, and nothing outside them can be more than text */
export function htmlOf({ subject, text, button = '' }: PlainTemplate, language: Language): string {
  const paragraphs = text.split('\n\n').map((paragraph) => {
    const name = linkAlone.exec(paragraph)?.[1];
    if (name === undefined) return `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>\n')}</p>`;
    const label = button === '' ? `{{${name}}}` : escapeHtml(button);
    return `<p><a href="{{${name}}}" style="${styles.button}">${label}</a></p>\n<p style="${styles.url}">{{${name}}}</p>`;
  });
  return [
    '<!doctype html>',
    `<html lang="${language}">`,
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>`,
    `<body style="${styles.body}">`,
    `<p style="${styles.operator}">{{product}}</p>`,
    ...paragraphs,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
