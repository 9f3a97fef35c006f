/** What `keyreeve mail test` sends: to see whether mail arrives, and how it looks there. */
import { renderTemplate, type RenderedMail } from './render.ts';
import { htmlOf } from './templates/html.ts';

const template = {
  subject: 'Mail from {{product}} arrives',
  text: `This is a test of the mail that {{product}} sends. Whoever runs it has asked for it.

Nothing needs to be done.`,
};

export const testMail = (product: string): RenderedMail =>
  renderTemplate({ ...template, html: htmlOf(template) }, new Map([['product', product]]));
