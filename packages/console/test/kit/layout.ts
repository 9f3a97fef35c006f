/** Finds layout faults: a page that must be scrolled sideways, a secret or a command that is cut off, a dialog whose focus is beside the work. */
import type { Page } from 'playwright-core';

/** Elements that reach out of the window, without those in a region that scrolls by itself. */
const inspect = `(() => {
  const root = document.scrollingElement;
  const wide = [];
  const isScrollable = (element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX);
  const dialog = document.querySelector('dialog[open]');
  const isPhone = innerWidth < 640;
  const cut = [...document.querySelectorAll('textarea[readonly], .code-block')].filter((element) =>
    element.checkVisibility() && isPhone &&
    (element.scrollWidth > element.clientWidth + 1 || (element.localName === 'textarea' && element.scrollHeight > element.clientHeight + 1)));
  if (cut.length > 0) return cut.map((element) => 'cut off: ' + element.outerHTML.slice(0, 120));
  if (document.activeElement?.closest('.dialog-header button')) return ['the focus is at the close button'];
  const doesOverflow = root.scrollWidth > root.clientWidth || (dialog && dialog.scrollWidth > dialog.clientWidth);
  if (!doesOverflow) return [];
  for (const element of (dialog ?? document.body).querySelectorAll('*')) {
    const { left, right } = element.getBoundingClientRect();
    if (right <= root.clientWidth + 1 && left >= -1) continue;
    let parent = element.parentElement;
    while (parent && parent !== document.body && !isScrollable(parent)) parent = parent.parentElement;
    if (!parent || parent === document.body || parent === dialog) wide.push(element.outerHTML.slice(0, 120));
  }
  return ['scrollWidth ' + root.scrollWidth + ' of ' + root.clientWidth, ...wide.slice(0, 5)];
})()`;

/** @returns the elements that are wider than the window */
export const findOverflow = (page: Pick<Page, 'evaluate'>): Promise<string[]> => page.evaluate(inspect);
