/** What every page must satisfy in every state. Each file with pages registers these tests for its scenes. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { testedKinds } from '../../../server/test-kit/new-db.ts';
import { findUnreadable, findViolations } from '../accessibility.ts';
import type { ConsoleTest } from './console-site.ts';
import { findOverflow } from './layout.ts';
import { untranslatedTexts } from './pseudo-texts.ts';
import type { Scene } from './scene.ts';
import { lookAtScenes } from './scenes.ts';
import { directionText, hostileTexts, hostileUserAgent, type Seeded } from './seed.ts';

const narrow = { width: 320, height: 640 };
/** What a page shows does not depend on the database. */
const options = { databases: testedKinds.slice(0, 1) };

/** Texts without a translation: of accounts, of the installation, of browsers, and of the formats of the API. */
const dataOf = ({ keys }: Seeded): readonly (string | RegExp)[] => [
  // Service accounts of the scenes are named after their managers.
  /[\w.]+@example\.com(?: backend)?/,
  ...Object.keys(keys),
  ...Object.values(hostileTexts),
  directionText,
  hostileUserAgent,
  'Keyreeve',
  'Example',
  // A version.
  /\b\d+\.\d+\.\d+-rc\.\d+\b/,
  /https:\/\/[\w.]*example\.com\/[\w/]+/,
  // Actors and actions of the audit log.
  /\baccount:/,
  /\b[a-z_]+\.[a-z_]+\b/,
  // The examples of “Protect your API”, and the keys that its scenes have created.
  /\bservice(?: \d+)?\b/,
  /\b(?:nginx|Caddy|Express|FastAPI|Go|curl)\b/,
  /\bGitHub Actions\b|\bGitLab CI\b|\bKubernetes\b|\bGoogle Cloud\b|\bBuildkite\b/,
  // Claims of identity tokens.
  /\b(?:environment|ref|repository_id)\b/,
  'orders:read',
  // The program of the scenes; `Intl` formats durations.
  /\bAcme CLI\b|\bacme-cli\b/,
  /\b\d+ (?:days?|hours?|minutes?)\b/,
  'orders:write',
  /\b(?:krv|acc|ses)_[\w…]+/,
  /Mozilla[/ ]5\.0.*/,
  // `Intl` formats dates and names of languages. In right-to-left tests it does so in Arabic.
  /\p{Script=Arabic}+/u,
  /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|AM|PM|UTC|CSV|JSON Lines|English|German)\b/,
  /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/,
];

/** Colours depend on the scheme and the layout on the width, so each is checked once with all rules. */
async function findFaults(page: Page, seeded: Seeded): Promise<string[]> {
  const faults = await findViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await findUnreadable(page)));
  await page.setViewportSize(narrow);
  faults.push(...(await findTextFaults(page, seeded, 'ltr')), ...(await findViolations(page)));
  await page.emulateMedia({ colorScheme: 'light' });
  faults.push(...(await findUnreadable(page)));
  return faults;
}

async function findTextFaults(page: Page, seeded: Seeded, direction: 'ltr' | 'rtl'): Promise<string[]> {
  const found = await findOverflow(page);
  if ((await page.evaluate('document.dir')) !== direction) found.push('wrong direction');
  return [...found, ...(await untranslatedTexts(page, dataOf(seeded)))];
}

/**
 * In pseudo languages, so that one load of a page shows all faults. Their texts are longer.
 * @param what the scenes, such as `page of administrators`
 */
export function testScenes(test: ConsoleTest, what: string, scenes: readonly Scene[]): void {
  test(
    `every ${what} satisfies WCAG 2.2 AA in both colour schemes, and its texts are translated and fit into 320 px, in en-XA`,
    async (site) => {
      assert.deepEqual(await lookAtScenes(site, { locale: 'en-XA' }, findFaults, scenes), {});
    },
    options,
  );
  test(
    `every text of every ${what} is translated and fits into a narrow window, in ar-XB`,
    async (site) => {
      const find = (page: Page, seeded: Seeded): Promise<string[]> => findTextFaults(page, seeded, 'rtl');
      assert.deepEqual(await lookAtScenes(site, { locale: 'ar-XB', ...narrow }, find, scenes), {});
    },
    options,
  );
}

/** The same rules on pages with data, in English. */
export function testFilledPages(test: ConsoleTest, what: string, scenes: readonly Scene[]): void {
  test(
    `every ${what} with data satisfies WCAG 2.2 AA, and at 320 px without sideways scrolling`,
    async (site) => {
      const find = async (page: Page): Promise<string[]> => {
        const faults = await findViolations(page);
        await page.setViewportSize(narrow);
        return [...faults, ...(await findOverflow(page)), ...(await findViolations(page))];
      };
      const filled = scenes.filter(({ name }) => name.endsWith('-filled'));
      assert.ok(filled.length > 3);
      assert.deepEqual(await lookAtScenes(site, {}, find, filled), {});
    },
    { databases: ['sqlite'] },
  );
}
