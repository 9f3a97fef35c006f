/** The guides and the API reference in a browser: accessibility, widths, search and copying. */
import assert from 'node:assert/strict';
import { allRoutes } from '@keyreeve/contract';
import { findFaults, findViolations } from '../../console/test/accessibility.ts';
import { consoleTests } from '../../console/test/kit/console-site.ts';

const test = consoleTests();
const options = { databases: ['sqlite'] } as const;
/** Short pages of each kind, because the check of a long one takes many seconds. */
const inspected = [
  '/docs',
  '/docs/upgrade',
  '/docs/tutorials/gin',
  '/docs/below-a-path',
  '/docs/api',
  '/docs/api/sessions',
  '/problems/invalid_request',
];

test(
  'no page has an accessibility fault in either theme, and none is wider than a phone',
  async (site) => {
    const { page } = await site.open();
    for (const path of inspected) {
      await page.goto(path);
      assert.deepEqual(await findFaults(page), [], path);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto('/docs/upgrade');
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('navigation', { name: 'Documentation' }).waitFor();
    assert.deepEqual(await findViolations(page), [], 'the open list of pages');
  },
  options,
);

test(
  'the search opens with a slash, finds pages while a person types, and is used by keyboard alone',
  async (site) => {
    const visitor = await site.open();
    const { page } = visitor;
    await page.goto('/docs/tutorials/gin');
    await page.keyboard.press('/');
    await page.keyboard.type('how do i upgr');
    const results = page.locator('.results a');
    await results.first().waitFor();
    assert.deepEqual(await findViolations(page), [], 'the results');
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'hidden' });
    await page.keyboard.type('how do i upgrade');
    await results.first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/upgrade');
    await page.getByRole('searchbox').fill('xylophone');
    await page.getByText('No pages found').waitFor();
    await page.getByRole('searchbox').fill('Flask');
    await results.first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/tutorials/flask');
  },
  options,
);

test(
  'a button copies a block of code',
  async (site) => {
    const { page } = await site.open();
    await page.goto('/docs/upgrade');
    const code = await page.locator('pre code').first().textContent();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), code);
  },
  options,
);

interface Operation {
  readonly id: string;
  readonly blocks: readonly string[];
}

const readOperations = `[...document.querySelectorAll('article')].map((article) => ({
  id: article.getAttribute('aria-labelledby'),
  blocks: [...article.querySelectorAll('pre')].map((block) => block.textContent),
}))`;

test(
  'each operation shows a request and a response, and has a link in the navigation',
  async (site) => {
    const { page } = await site.open();
    const operations = new Map<string, readonly string[]>();
    const tags = new Set(allRoutes.map(({ tag }) => tag));
    for (const tag of tags) {
      await page.goto(`/docs/api/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`);
      const found: readonly Operation[] = await page.evaluate(readOperations);
      for (const { id, blocks } of found) operations.set(id, blocks);
    }
    for (const { id, success } of allRoutes) {
      const [request = '', response = ''] = operations.get(id.toLowerCase()) ?? [];
      assert.match(request, /^curl /, id);
      assert.match(response, new RegExp(`^HTTP/1\\.1 ${success.status} `), id);
    }
    await page.goto('/docs/api/api-keys');
    await page.getByRole('navigation').getByRole('link', { name: 'Delete an API key', exact: true }).click();
    await page.waitForURL(({ hash }) => hash === '#deletekey');
    assert.ok(await page.getByRole('heading', { name: 'Delete an API key', exact: true }).isVisible());
  },
  options,
);
