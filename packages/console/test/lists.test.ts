/** Lists: their pages, and requests that a newer one replaces. */
import assert from 'node:assert/strict';
import { consoleTests } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

async function createKeys({ context }: Visitor, count: number): Promise<void> {
  for (let index = 1; index <= count; index++) {
    const response = await context.request.post('/console/api/auth/api-keys', {
      data: { nickname: `key ${index}` },
      headers: { 'x-keyreeve-console': 'user' },
    });
    assert.ok(response.ok(), await response.text());
  }
}

test('a double click on Next shows the next page, and a page without rows is replaced by the page before it', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await createKeys(visitor, 5);
  await visitor.goto('/console/keys?limit=2');
  const shows = (range: string): Promise<void> => page.locator('.pager').getByText(range).waitFor();
  const next = page.getByRole('button', { name: 'Next' });
  await shows('1–2');
  // Otherwise the response could arrive before the second click, which would then be for the page after it.
  const clicked = Promise.withResolvers<void>();
  await page.route('**/console/api/auth/api-keys?*', async (route) => {
    await clicked.promise;
    await route.continue();
  });
  await next.dblclick();
  clicked.resolve();
  await shows('3–4');
  await visitor.settle();
  await next.click();
  await shows('5–5');
  await page.getByRole('button', { name: 'Actions for' }).click();
  await page.getByRole('button', { name: 'Delete key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // A request for the usage of the key that arrives after its deletion would get 404, which the browser logs.
  await visitor.settle();
  await dialog.getByRole('button', { name: 'Delete key' }).click();
  await shows('3–4');
  assert.equal(await page.getByRole('row').count(), 3);
});

/** In the page: the body of such a response never ends, except by an abort. */
const stallBody = `{
  const load = fetch;
  globalThis.fetch = async (url, options) => {
    const response = await load(url, options);
    if (!String(url).includes('search=first')) return response;
    const start = (body) => options.signal.addEventListener('abort', () => body.error(options.signal.reason));
    return new Response(new ReadableStream({ start }), response);
  };
}`;

test('a response that is replaced while its body arrives is no outage', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await createKeys(visitor, 1);
  await page.addInitScript({ content: stallBody });
  await visitor.goto('/console/keys');
  const search = page.getByRole('searchbox');
  const answered = page.waitForResponse(/search=first/);
  await search.fill('first');
  await answered;
  await search.fill('key');
  await page.waitForURL(/search=key/);
  await visitor.settle();
  await page.getByRole('link', { name: 'key 1' }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('an unknown state or order in the URL of a list shows all keys in the usual order', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await createKeys(visitor, 1);
  await visitor.goto('/console/keys?state=foo&sort=foo');
  await page.getByRole('link', { name: 'key 1' }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Clear filters' }).count(), 0);
});
