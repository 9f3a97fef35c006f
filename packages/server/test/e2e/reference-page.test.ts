/** The reference page in a real browser, on the screen of a telephone and of a laptop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';
import { newApp } from '../../test-kit/new-app.ts';
import { openBrowser } from './browser.ts';

interface Operation {
  readonly id: string;
  readonly blocks: readonly string[];
}

/** In the page: what is wider than the screen, and what each operation shows. */
const look = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const tooWide = [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1 || element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
    .map((element) => element.outerHTML.slice(0, 120));
  const operations = [...document.querySelectorAll('article')].map((article) => ({
    id: article.getAttribute('aria-labelledby') ?? '',
    blocks: [...article.querySelectorAll('pre')].filter((block) => block.checkVisibility()).map((block) => block.innerText),
  }));
  return { scrollWidth, clientWidth, tooWide, operations };
})()`;

interface Seen {
  readonly scrollWidth: number;
  readonly clientWidth: number;
  readonly tooWide: readonly string[];
  readonly operations: readonly Operation[];
}

for (const [width, height] of [
  [375, 812],
  [1280, 900],
] as const) {
  test(`at ${width} pixels nothing of the reference page is cut off, and each operation shows a request and a response`, async (t) => {
    const browser = await openBrowser(t);
    if (!browser) return;
    try {
      await using app = await newApp();
      const context = await browser.newContext({ viewport: { width, height } });
      const page = await context.newPage();
      const [requests, complaints]: [string[], string[]] = [[], []];
      page.on('request', (request) => requests.push(request.url()));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(`${app.url}/docs`);
      const { scrollWidth, clientWidth, tooWide, operations } = (await page.evaluate(look)) as Seen;
      assert.deepEqual([scrollWidth, clientWidth, tooWide], [width, width, []]);
      const byId = new Map(operations.map((operation) => [operation.id, operation.blocks]));
      for (const { id, success } of allRoutes) {
        const [request = '', response = ''] = byId.get(id.toLowerCase()) ?? [];
        assert.match(request, /^curl /, id);
        assert.match(response, new RegExp(`^HTTP/1\\.1 ${success.status} `), id);
      }
      // The navigation leads there: by tag on both, by operation where there is room for it.
      await page.getByRole('navigation').getByRole('link', { name: 'API keys', exact: true }).click();
      assert.ok(await page.getByRole('heading', { name: 'API keys', exact: true }).isVisible());
      const deletion = page.getByRole('navigation').getByRole('link', { name: 'Delete an API key', exact: true });
      assert.equal(await deletion.isVisible(), width >= 1024);
      if (width >= 1024) await deletion.click();
      else await page.getByRole('link', { name: 'DELETE /auth/api-keys/:id' }).click();
      assert.equal(new URL(page.url()).hash, '#deletekey');
      assert.deepEqual(complaints, [], 'the policy forbids nothing that the page has');
      assert.deepEqual(requests, [`${app.url}/docs`], 'nothing else is loaded');
    } finally {
      await browser.close();
    }
  });
}
