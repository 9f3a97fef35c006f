/** The reference page in a browser, at the widths of a phone and a laptop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';
import { newApp } from '../../test-kit/new-app.ts';
import { openBrowser } from './browser.ts';

interface Operation {
  readonly id: string;
  readonly blocks: readonly string[];
}

/** Runs in the page: finds elements wider than the screen, and the examples of each operation. */
const measure = `(() => {
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

interface Measured {
  readonly scrollWidth: number;
  readonly clientWidth: number;
  readonly tooWide: readonly string[];
  readonly operations: readonly Operation[];
}

for (const [width, height] of [
  [375, 812],
  [1280, 900],
] as const) {
  test(`at ${width} pixels the reference page fits the screen, and each operation shows a request and a response`, async (t) => {
    const browser = await openBrowser(t);
    if (!browser) return;
    try {
      await using app = await newApp();
      const context = await browser.newContext({ viewport: { width, height } });
      const page = await context.newPage();
      const [requests, messages]: [string[], string[]] = [[], []];
      page.on('request', (request) => requests.push(request.url()));
      page.on('console', (message) => messages.push(message.text()));
      page.on('pageerror', (error) => messages.push(error.message));
      await page.goto(`${app.url}/docs`);
      const { scrollWidth, clientWidth, tooWide, operations } = (await page.evaluate(measure)) as Measured;
      assert.deepEqual([scrollWidth, clientWidth, tooWide], [width, width, []]);
      const byId = new Map(operations.map((operation) => [operation.id, operation.blocks]));
      for (const { id, success } of allRoutes) {
        const [request = '', response = ''] = byId.get(id.toLowerCase()) ?? [];
        assert.match(request, /^curl /, id);
        assert.match(response, new RegExp(`^HTTP/1\\.1 ${success.status} `), id);
      }
      // The navigation has tags at both widths, and operations on a wide screen.
      await page.getByRole('navigation').getByRole('link', { name: 'API keys', exact: true }).click();
      assert.ok(await page.getByRole('heading', { name: 'API keys', exact: true }).isVisible());
      const deletion = page.getByRole('navigation').getByRole('link', { name: 'Delete an API key', exact: true });
      assert.equal(await deletion.isVisible(), width >= 1024);
      if (width >= 1024) await deletion.click();
      else await page.getByRole('link', { name: 'DELETE /auth/api-keys/:id', exact: true }).click();
      await page.waitForURL(({ hash }) => hash === '#deletekey');
      assert.deepEqual(messages, [], 'no errors, as of the content security policy');
      assert.deepEqual(requests, [`${app.url}/docs`], 'no other requests');
    } finally {
      await browser.close();
    }
  });
}
