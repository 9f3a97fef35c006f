/** Layout faults: a page that must be scrolled sideways, and elements that are moved while the page loads. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Elements that reach out of the window, without those in a region that scrolls by itself. */
const findOverflow = `(() => {
  const root = document.scrollingElement;
  const wide = [];
  const isScrollable = (element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX);
  const dialog = document.querySelector('dialog[open]');
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

/** @param what the page and its state, for the message */
export async function assertNoSidewaysScroll(page: Page, what: string): Promise<void> {
  assert.deepEqual(await page.evaluate(findOverflow), [], `${what}: nothing is wider than the window`);
}
