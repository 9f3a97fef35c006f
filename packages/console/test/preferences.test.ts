/** The theme and the language that a person chooses in this browser. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { findUnreadable, findViolations } from './accessibility.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';

const test = consoleTests();
const databases = ['sqlite'] as const;

const backgroundOf = (page: Page): Promise<unknown> =>
  page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
const dark = 'rgb(13, 16, 21)';
const light = 'rgb(246, 247, 249)';

test(
  'a chosen theme applies at once, and from the first painting of later visits on',
  async (site) => {
    const visitor = await site.openSignedIn({ isNew: true });
    const { page } = visitor;
    await visitor.goto('/console/account');
    assert.equal(await backgroundOf(page), light);
    await page.getByLabel('Theme').selectOption('dark');
    assert.equal(await backgroundOf(page), dark);
    assert.deepEqual([...(await findViolations(page)), ...(await findUnreadable(page))], []);
    // The page is painted without its own script.
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/app.js', async (route) => {
      await promise;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.locator('header.top').waitFor();
    assert.deepEqual(
      [await backgroundOf(page), await page.evaluate(`document.querySelector('meta[name=color-scheme]').content`)],
      [dark, 'dark'],
    );
    resolve();
    await visitor.settle();
    assert.equal(await backgroundOf(page), dark);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByLabel('Theme').selectOption('light');
    assert.equal(await backgroundOf(page), light);
    assert.deepEqual(await findUnreadable(page), []);
    await page.getByLabel('Theme').selectOption('system');
    assert.equal(await backgroundOf(page), dark);
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await backgroundOf(page), light);
  },
  { databases },
);

test(
  'a chosen language applies without a reload, stays after one and after the sign-out, and can be that of the browser again',
  async (site) => {
    const visitor = await site.openSignedIn({ isNew: true });
    const { page } = visitor;
    visitor.expect(/^info: Clear-Site-Data header/);
    await visitor.goto('/console/account');
    const documents = (): number => visitor.requests.filter((one) => one === 'GET /console/account').length;
    await page.getByLabel('Language', { exact: true }).selectOption('de');
    await page.getByRole('heading', { level: 1, name: 'Konto' }).waitFor();
    await visitor.settle();
    assert.equal(documents(), 1);
    assert.equal(await page.evaluate('document.activeElement.selectedOptions?.[0]?.text'), 'Deutsch');
    assert.deepEqual(await page.evaluate('[document.documentElement.lang, document.title]'), ['de', 'Konto · Example']);
    // Words of the language have hyphens, and data has none of its own.
    assert.deepEqual(
      await page.evaluate(
        `['.description', '.setting .code', '.brand'].map((part) => getComputedStyle(document.querySelector(part)).hyphens)`,
      ),
      ['auto', 'manual', 'manual'],
    );
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Konto' }).waitFor();
    await visitor.settle();
    await page.getByRole('button', { name: 'Kontomenü' }).click();
    await page.getByRole('button', { name: 'Abmelden', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Anmelden' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
    await page.getByLabel('Sprache').selectOption('system');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.lang'), 'en-US');
  },
  { databases },
);

test(
  'an administrator changes the language, and the texts of the pages of administrators change too',
  async (site) => {
    const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
    await site.app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
    const visitor = await site.open({ isNew: true });
    await signInByCookie(visitor.context, email);
    const { page } = visitor;
    await visitor.goto('/console/admin/settings');
    await visitor.goto('/console/account');
    await page.getByLabel('Language', { exact: true }).selectOption('de');
    await page.getByRole('heading', { level: 1, name: 'Konto' }).waitFor();
    await visitor.settle();
    await visitor.goto('/console/admin/settings');
    await page.getByRole('heading', { level: 2, name: 'Prüfungen' }).waitFor();
    await visitor.settle();
    // The checks of the server are in English otherwise. The first one has only names and versions.
    const texts = (await page.locator('main [lang=en]').allTextContents()).filter(
      (one) => !/^Keyreeve [\d.]+(?:-rc\.\d+)? \(\w+\), Node [\d.]+, SQLite [\d.]+$|^https?:/.test(one),
    );
    assert.deepEqual(texts, []);
    await page.getByText(/antwortet; das Schema ist aktuell/).waitFor();
  },
  { databases },
);

test(
  'a browser that stores nothing shows the console as the system wants',
  async (site) => {
    const { page } = await site.open({ isNew: true });
    await page.addInitScript({
      content: `Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });`,
    });
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('Theme').selectOption('dark');
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  },
  { databases },
);
