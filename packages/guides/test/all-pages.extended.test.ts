/**
 * Every page of the guides and of the API reference in a browser: of the site for other web servers, below a path, which also has the
 * pages that a service lacks; and each page of a service without scripts.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { extname, posix } from 'node:path';
import { test as nodeTest } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { findFaults, findViolations } from '../../console/test/accessibility.ts';
import { consoleTests } from '../../console/test/kit/console-site.ts';
import { openBrowser } from '../../server/test/e2e/browser.ts';
import { newSite, type BuiltSite } from './built-site.ts';

const base = '/help/keyreeve';
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
const pagesOf = ({ files }: BuiltSite): string[] => [...files.keys()].filter((name) => name.endsWith('.html'));

/** Any web server with files in a folder. @returns the URL of the folder */
async function serve({ files }: BuiltSite): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url = '' }, response) => {
    const path = decodeURI(new URL(url, 'http://localhost').pathname);
    const content = path.startsWith(`${base}/`) ? files.get(path.slice(base.length + 1) || 'index.html') : undefined;
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': types[extname(path)] ?? types['.html'] });
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}${base}/`, [Symbol.asyncDispose]: close };
}

/** On a phone, axe also sees what only narrow screens have. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults = await findFaults(page);
  await page.setViewportSize({ width: 320, height: 640 });
  // The page reacts to its width in the next frame.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  faults.push(...(await findViolations(page)));
  return faults;
}

nodeTest('no page of the site has an accessibility fault in either theme, on wide screens and phones', async (t) => {
  const browser = await openBrowser(t);
  if (!browser) return;
  t.after(() => browser.close());
  using site = newSite('files');
  await using server = await serve(site);
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('response', (response) => response.ok() || errors.push(`${response.status()} ${response.url()}`));
  page.on('pageerror', (error) => errors.push(error.message));
  const names = pagesOf(site);
  assert.ok(names.length > 70);
  for (const name of names) {
    await page.goto(server.url + name);
    assert.deepEqual(await faultsOf(page), [], name);
  }
  assert.deepEqual(errors, []);
});

nodeTest('the site works below any path, and is read from a folder without a web server', async (t) => {
  const browser = await openBrowser(t);
  if (!browser) return;
  t.after(() => browser.close());
  using site = newSite('files');
  await using server = await serve(site);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.url}tutorials/gin.html`);
  await page.getByRole('searchbox').fill('how do i upgrade');
  await page.locator('.results a').first().click();
  await page.waitForURL(`${server.url}upgrade.html`);
  await page.getByRole('link', { name: 'Before you upgrade' }).click();
  await page.waitForURL(`${server.url}changelog.html#before-you-upgrade`);

  await page.goto(pathToFileURL(posix.join(site.path, 'index.html')).href);
  await page.getByRole('link', { name: 'single-page app' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.ok(page.url().endsWith('/tutorials/single-page-app.html'));
  assert.notEqual(await page.evaluate('getComputedStyle(document.querySelector("header")).position'), 'static');
  assert.equal(await page.getByRole('search').count(), 0, 'no search without the script that finds pages');
});

const test = consoleTests();

test(
  'a service shows every page without scripts, and no control that needs one',
  async (site) => {
    using built = newSite('service');
    const { context } = await site.open();
    const page = await context.browser()!.newPage({ javaScriptEnabled: false, baseURL: site.origin });
    for (const name of pagesOf(built)) {
      const path = `/docs/${name.replace(/(?:index)?\.html$/, '')}`.replace(/\/$/, '');
      assert.equal((await page.goto(path))?.status(), 200, path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      assert.equal(await page.getByRole('search').count(), 0, path);
      assert.deepEqual(await page.getByRole('button').allTextContents(), [], path);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('navigation').getByText('Protect your API', { exact: true }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Verify every request at your proxy' }).click();
    await page.getByRole('heading', { level: 1, name: 'Verify every request at your proxy' }).waitFor();
    await page.close();
  },
  { databases: ['sqlite'] },
);
