/** Finds texts that are not translated: in a pseudo language every sentence is in brackets and has accents. */
import type { Page } from 'playwright-core';

/** Every text that a person can read or that a screen reader announces, without times, code and values of fields. */
const readTexts = `(() => {
  const isSkipped = (element) =>
    element.closest('time, code, pre, script, style, svg title, .code, [translate=no], .visually-hidden:empty') !== null;
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!isSkipped(element) && (element.closest('option') || element.checkVisibility())) texts.push(node.data);
  }
  for (const element of document.querySelectorAll('*')) {
    if (isSkipped(element)) continue;
    for (const name of ['aria-label', 'placeholder', 'alt', 'title', 'aria-description', 'aria-valuetext'])
      if (element.hasAttribute(name)) texts.push(element.getAttribute(name));
  }
  texts.push(document.title);
  return texts.map((text) => text.trim()).filter(Boolean);
})()`;

/** @param data texts of accounts and of the installation, which have no translation */
export async function untranslatedTexts(page: Page, data: readonly (string | RegExp)[]): Promise<string[]> {
  const texts = (await page.evaluate(readTexts)) as string[];
  return [...new Set(texts)].filter((text) => {
    let rest = text;
    for (const part of data)
      rest = rest.replaceAll(typeof part === 'string' ? part : new RegExp(part, `${part.flags}g`), '');
    // A function of the texts may insert the result of another one.
    while (/\[[^[\]]*·\]/.test(rest)) rest = rest.replaceAll(/\[[^[\]]*·\]/g, '');
    return /\p{L}{2}/u.test(rest);
  });
}
