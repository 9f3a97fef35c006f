/** What a page shows until its code and its data arrive: skeletons, in the place of what follows. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { awaited, until } from '../../server/test-kit/until.ts';
import { findFaults } from './accessibility.ts';
import { findOverflow } from './kit/layout.ts';
import { consoleTests } from './kit/console-site.ts';

const test = consoleTests();
const databases = ['sqlite'] as const;

/** @returns a function that lets the files arrive */
async function hold(page: Page, files: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(files, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

const placeOf = async (element: Locator): Promise<readonly (number | undefined)[]> => {
  const box = await element.boundingBox();
  return [box?.x, box?.y, box?.width].map((value) => value && Math.round(value));
};

test(
  'the sign-in has a skeleton without a script, its texts load with the scripts, and nothing moves when it appears',
  async (site) => {
    const { page } = await site.open({ isNew: true });
    const proceed = await hold(page, '**/app.js');
    const texts = page.waitForRequest(/\/en-\w{8}\.js$/);
    await page.goto('/console', { waitUntil: 'commit' });
    await awaited('the texts are requested without app.js', texts);
    const card = page.locator('.entrance .card');
    await card.waitFor();
    assert.equal(await page.locator('header.top').isVisible(), false);
    assert.deepEqual(await findFaults(page), []);
    const before = [await placeOf(page.locator('.entrance .brand')), await placeOf(card)];
    proceed();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    assert.deepEqual([await placeOf(page.locator('.entrance .brand')), await placeOf(card)], before);
    assert.equal(await page.locator('.start').count(), 0);
  },
  { databases },
);

test(
  'a browser with a session has the skeleton of the pages after the sign-in, and the sign-out ends that',
  async (site) => {
    const visitor = await site.openSignedIn({ isNew: true });
    const { page } = visitor;
    visitor.expect(/^info: Clear-Site-Data header/);
    await visitor.goto('/console/keys');
    const proceed = await hold(page, '**/app.js');
    await page.reload({ waitUntil: 'commit' });
    const bar = page.locator('header.top');
    await bar.waitFor();
    assert.equal(await page.locator('.entrance').isVisible(), false);
    assert.deepEqual(await findFaults(page), []);
    const before = [await placeOf(bar), await placeOf(page.locator('main:visible'))];
    proceed();
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    assert.deepEqual([await placeOf(bar), await placeOf(page.locator('main'))], before);
    await visitor.settle();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    assert.deepEqual(await page.evaluate('Object.keys(localStorage)'), []);
  },
  { databases },
);

/** In the page: timers of 200 ms end when the test ends them. */
const stopTimers = `{
  const start = setTimeout;
  globalThis.stopped = [];
  globalThis.setTimeout = (act, ms, ...rest) => (ms === 200 ? -stopped.push(act) : start(act, ms, ...rest));
}`;

test(
  'a page whose code loads has a skeleton 200 ms after the click, and none before',
  async (site) => {
    const visitor = await site.openSignedIn({ isNew: true });
    const { page } = visitor;
    await page.addInitScript({ content: stopTimers });
    await visitor.goto('/console/keys');
    const proceed = await hold(page, '**/further-pages-*.js');
    await page.evaluate('stopped.length = 0');
    await page.getByRole('link', { name: 'Security' }).first().click();
    const skeleton = page.locator('.skeleton.page');
    await skeleton.waitFor({ state: 'attached' });
    await until('the timer of the skeleton has begun', async () => (await page.evaluate('stopped.length')) === 1);
    assert.equal(await skeleton.isVisible(), false);
    await page.evaluate('stopped[0]()');
    await skeleton.waitFor();
    assert.deepEqual(await findOverflow(page), []);
    proceed();
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
    assert.equal(await skeleton.count(), 0);
  },
  { databases },
);

test(
  'the browser requests every file that the first page imports together with its script',
  async (site) => {
    const html = (await site.app.call('GET', '/console', { headers: { accept: 'text/html' } })).text;
    const { page } = await site.open({ isNew: true });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    const later = loaded.filter((path) => path.startsWith('/console/assets/') && !html.includes(path));
    // The language is known only to the script.
    assert.deepEqual(
      later.map((path) => path.replace(/^.*\/(\w+)-\w+/, '$1')),
      ['en.js'],
    );
  },
  { databases },
);
