/** The pages of keys: what a click does on the server, lists of any size, and requests that a newer one replaces. */
import assert from 'node:assert/strict';
import { hourMs } from '../../server/src/foundation/clock.ts';
import { uncountedId } from '../../server/src/modules/api-keys/use-store.ts';
import { insertKeys } from '../../server/test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../server/test-kit/new-app.ts';
import { addUsage } from '../../server/test-kit/uses.ts';
import { consoleTests } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests({ environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '20000' } });

test('a double click creates one key', async (site) => {
  const visitor = await site.openNewKey();
  const { page } = visitor;
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).dblclick();
  await page.getByLabel('I have stored it').waitFor();
  const creations = visitor.requests.filter((request) => request === 'POST /console/api/auth/api-keys');
  assert.equal(creations.length, 1);
});

test('the first page of 10,000 keys has at most 100 rows', async (site) => {
  const visitor = await site.openSignedIn();
  const { id } = await site.app.service.services.accounts.find(visitor.email);
  const now = site.app.clock.now();
  const nicknameOf = (n: number): string => `key ${String(n).padStart(5, '0')}`;
  await insertKeys(
    site.app.db,
    id,
    Array.from({ length: 10_000 }, (_, n) => ({ id: 7_000_000 + n, nickname: nicknameOf(n), createdAt: now - n })),
  );
  await visitor.goto('/console/keys');
  const { page } = visitor;
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 100);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('101–200 of 10,000').first().waitFor();
  assert.equal(await rows.count(), 100);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('1–100 of 10,000', { exact: true }).first().waitFor();
  await page.getByRole('searchbox').fill(nicknameOf(9_999));
  await page.getByRole('link', { name: nicknameOf(9_999) }).waitFor();
  await rows.nth(1).waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('no such key');
  await page.getByText('No entry matches the filters.').first().waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await rows.nth(99).waitFor();
});

test('the page of a key shows how many requests were counted for no key', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await createKeys(visitor, 1);
  await visitor.goto('/console/keys');
  await page.getByRole('link', { name: 'key 1' }).click();
  await page.getByText('No requests in 24 hours.').waitFor();
  assert.equal(await page.getByText('counted for no key').count(), 0);
  const at = Math.floor(site.app.clock.now() / hourMs) * hourMs;
  await addUsage(site.app.db, [{ keyId: uncountedId, at, accepted: 1_200, refused: 34 }]);
  await page.reload();
  await page
    .getByText(
      'Requests of all API keys in 24 hours that were counted for no key: 1,234. The numbers above can be too low.',
    )
    .waitFor();
});

test(
  'a key that is deleted in the console of one instance is rejected by another instance immediately',
  async (site) => {
    await using other = await newApp({ place: site.app.place });
    const visitor = await site.openSignedIn();
    const { id } = await site.app.service.services.accounts.find(visitor.email);
    const { secret } = await site.app.service.services.apiKeys.create(operator, id, { nickname: 'billing worker' });
    const forward = async (): Promise<number> =>
      (await other.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status;
    assert.equal(await forward(), 200);
    const { page } = visitor;
    await visitor.goto('/console/keys');
    await page.getByRole('link', { name: 'billing worker' }).click();
    await page.getByRole('button', { name: 'Delete key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await visitor.settle();
    // Asked for once the last use has been recorded, which happens some seconds after it.
    const nickname = dialog.getByLabel('Type the nickname to confirm');
    if (await nickname.isVisible()) await nickname.fill('billing worker');
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await dialog.getByRole('button', { name: 'Delete key' }).click();
    assert.equal((await deleted).status(), 200);
    assert.equal(await forward(), 401);
    await page
      .getByText(/Rejected since \d\d:\d\d:\d\d\.\d{3} UTC/)
      .first()
      .waitFor();
  },
  { isAlone: true, databases: ['postgres'] },
);

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
  const previous = page.getByRole('button', { name: 'Previous' });
  await shows('1–2');
  const clicked = Promise.withResolvers<void>();
  await page.route('**/console/api/auth/api-keys?*', async (route) => {
    await clicked.promise;
    await route.continue();
  });
  await next.dblclick();
  clicked.resolve();
  await shows('3–4');
  await visitor.settle();
  await previous.click();
  await shows('1–2');
  // The response can also arrive between the two clicks.
  const click = async (clickCount: number): Promise<void> => {
    await page.mouse.down({ clickCount });
    await page.mouse.up({ clickCount });
  };
  await next.hover();
  await click(1);
  await shows('3–4');
  await visitor.settle();
  await click(2);
  const answered = page.waitForResponse('**/console/api/auth/api-keys?*');
  await previous.click();
  await answered;
  await visitor.settle();
  assert.match(await page.locator('.pager').innerText(), /^1–2/);
  await next.click();
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

test('Next opens the next page at its top, with the focus at its table, and announces it', async (site) => {
  const visitor = await site.openSignedIn({ height: 400 });
  const { page } = visitor;
  await createKeys(visitor, 25);
  await visitor.goto('/console/keys?limit=20');
  const next = page.getByRole('button', { name: 'Next' });
  await next.scrollIntoViewIfNeeded();
  assert.notEqual(await page.evaluate('scrollY'), 0);
  await next.click();
  await page.locator('.pager').getByText('21–25').waitFor();
  await page.getByRole('status').getByText('21–25').waitFor();
  const table = page.getByRole('group', { name: 'API keys' });
  assert.equal(await page.evaluate(`document.activeElement.getAttribute('aria-label')`), 'API keys');
  const bar = await page.locator('header.top').boundingBox();
  const top = (await table.boundingBox())?.y ?? -1;
  assert.ok(bar && top >= bar.y + bar.height && top < 400, `the table begins at ${top}`);
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
  const script = await page.addInitScript({ content: stallBody });
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
  await script.dispose();
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
