/** Every page in every state: accessible, readable in both colour schemes, and usable in a narrow window. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findUnreadable, findViolations } from './accessibility.ts';
import { consoleTests } from './kit/console-site.ts';
import { findOverflow } from './kit/layout.ts';
import { dialogScenes } from './kit/dialog-scenes.ts';
import { lookAtScenes, pageScenes } from './kit/scenes.ts';

const test = consoleTests();

const narrow = { width: 320, height: 640 };

/** Colours depend on the scheme and the layout on the width, so each is checked once with all rules. */
async function findFaults(page: Page): Promise<string[]> {
  const faults = await findViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await findUnreadable(page)));
  await page.setViewportSize(narrow);
  faults.push(...(await findOverflow(page)), ...(await findViolations(page)));
  await page.emulateMedia({ colorScheme: 'light' });
  faults.push(...(await findUnreadable(page)));
  return faults;
}

for (const [what, list] of [
  ['page in every state', pageScenes],
  ['dialog', dialogScenes],
] as const) {
  test(
    `every ${what} satisfies WCAG 2.2 AA in both colour schemes, and at 320 px without sideways scrolling`,
    async (site) => {
      assert.deepEqual(await lookAtScenes(site, {}, findFaults, list), {});
    },
    // What a page shows does not depend on the database.
    { databases: ['sqlite'] },
  );
}
