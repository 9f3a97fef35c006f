/** Checks pages with axe-core: WCAG 2.2 AA and best practices. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { findOverflow } from './kit/layout.ts';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules whose result depends on the colour scheme. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** The minified library: each page has to compile it. */
const library = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** @param what the page and its state, for the message */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  assert.deepEqual(await findViolations(page), [], what);
}

/** @returns a line for each element that violates a rule */
export const findViolations = (page: Pick<Page, 'evaluate'>): Promise<string[]> => run(page, tags);

/** The same for the rules about colours only. */
export const findUnreadable = (page: Pick<Page, 'evaluate'>): Promise<string[]> => run(page, colorRules);

async function run(page: Pick<Page, 'evaluate'>, runOnly: readonly string[]): Promise<string[]> {
  // Evaluated by the browser's debugger, so it works under the page's policy.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(library);
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
}

/** @returns the faults of a page in both themes, and on a phone */
export async function findFaults(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  const faults = await findViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await findUnreadable(page)));
  await page.setViewportSize({ width: 320, height: 640 });
  faults.push(...(await findOverflow(page)));
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}
