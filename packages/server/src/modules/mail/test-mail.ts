/** The mail that `keyreeve mail test` sends, which shows whether mail arrives and how it looks. */
import type { Look } from '../look/look.ts';
import { renderTemplate, type RenderedMail } from './render.ts';
import { htmlOf } from './templates/html.ts';

const template = {
  subject: 'Mail from {{product}} arrives',
  text: `This is a test of the mail that {{product}} sends. An operator requested it.

You need not do anything.`,
};

export const testMail = (look: Look): RenderedMail =>
  renderTemplate({ ...template, html: htmlOf(template, 'en', look) }, new Map([['product', look.operator]]), 'en');
