/** Pages of the service outside the console, in its look: those of error codes, the one at `/`, and the result of single sign-on. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Page } from 'playwright-core';
import { errors } from '@keyreeve/contract';
import { svgMark } from '../../server/test-kit/marks.ts';
import { newOpenIdProvider } from '../../server/test-kit/openid-provider.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { findFaults } from './accessibility.ts';
import { consoleTests } from './kit/console-site.ts';

const provider = await newOpenIdProvider();
const folder = newTempFolder();
after(async () => {
  await provider[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});
const mark = join(folder.path, 'mark.svg');
writeFileSync(mark, svgMark);
const look = { KEYREEVE_MARK: mark, KEYREEVE_ACCENT: '#ffd400' };
const test = consoleTests({ environment: { ...provider.environment, ...look } });
/** Not for all tests: a file without one does not end the provider. */
const databases = ['sqlite'] as const;

/** Whether the page shows the operator's name, mark and colour. */
const brandOf = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    const image = document.querySelector('img.mark');
    await image.decode();
    const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent-fill').includes('#3450d2');
    return [document.querySelector('.operator').innerText.trim(), image.naturalWidth > 0, accent];
  })()`);

test(
  'the page of every error code satisfies WCAG 2.2 AA in both themes and fits into 320 px',
  async (site) => {
    const { page } = await site.open();
    const found: Record<string, readonly string[]> = {};
    for (const code of Object.keys(errors)) {
      await page.goto(`/problems/${code}`);
      const faults = await findFaults(page);
      if (faults.length > 0) found[code] = faults;
    }
    assert.deepEqual(found, {});
    assert.deepEqual(await brandOf(page), ['Example', true, false]);
  },
  { databases },
);

test(
  'without the console, the page at / has the look of the console, and satisfies WCAG 2.2 AA',
  async (site) => {
    const { page } = await site.open();
    await page.goto('/');
    await page.getByRole('heading', { level: 1, name: 'Keyreeve' }).waitFor();
    assert.deepEqual(await findFaults(page), []);
    assert.deepEqual(await brandOf(page), ['Example', true, false]);
  },
  { databases, isAlone: true, environment: { ...look, KEYREEVE_CONSOLE: 'off' } },
);

for (const [locale, title, back] of [
  ['en-US', 'This sign-in has expired', 'Back to the sign-in'],
  ['de-DE', 'Diese Anmeldung ist abgelaufen', 'Zurück zur Anmeldung'],
] as const) {
  test(`the result of a single sign-on has the look of the console, and satisfies WCAG 2.2 AA, in ${locale}`, async (site) => {
    const visitor = await site.open({ locale });
    visitor.expectStatus(400);
    const { page } = visitor;
    await page.goto('/console/sso/callback?state=unknown&code=unknown');
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    assert.deepEqual(await findFaults(page), []);
    assert.deepEqual(await brandOf(page), ['Example', true, false]);
    await page.getByRole('link', { name: back }).click();
    await page.getByLabel(locale === 'en-US' ? 'Email address' : 'E-Mail-Adresse').waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/sign-in');
  });
}
