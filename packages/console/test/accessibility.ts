/** Checks pages with axe-core: WCAG 2.2 AA and best practices. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules whose result depends on the colour scheme. */
const colorRules = ['color-contrast', 'link-in-text-block'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** @param what the page and its state, for the message */
export const assertAccessible = (page: Page, what: string): Promise<void> => check(page, what, tags);

/** For a page that passed `assertAccessible` in the other colour scheme. */
export const assertReadable = (page: Page, what: string): Promise<void> => check(page, what, colorRules);

async function check(page: Page, what: string, runOnly: readonly string[]): Promise<void> {
  // Evaluated by the browser's debugger, so it works under the page's policy.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
  );
  assert.deepEqual(found, [], what);
}
