/** The HTML form of a template that has a text form only. */
import { escapeHtml } from './fill.ts';

/** A paragraph that is nothing but a link. */
const linkAlone = /^\{\{(\w*[lL]ink)\}\}$/;

/** @returns a template too: its placeholders are still in it, and nothing outside them can be more than text */
export function htmlOf({ subject, text }: { subject: string; text: string }): string {
  const paragraphs = text.split('\n\n').map((paragraph) => {
    const name = linkAlone.exec(paragraph)?.[1];
    const inner =
      name === undefined ? escapeHtml(paragraph).replaceAll('\n', '<br>\n') : `<a href="{{${name}}}">{{${name}}}</a>`;
    return `<p>${inner}</p>`;
  });
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
    '<body style="font: 16px/1.5 sans-serif; max-width: 36em; margin: 2em auto; padding: 0 1em">',
    ...paragraphs,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
