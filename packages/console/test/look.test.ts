/**
 * The operator's name, mark and colour in the console and on the pages of links in mail, which end with a button that leads to the
 * sign-in.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Page } from 'playwright-core';
import { linkIn } from '../../server/test-kit/mailbox.ts';
import { pngMark, svgMark } from '../../server/test-kit/marks.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { findUnreadable, findViolations } from './accessibility.ts';
import { consoleTests } from './kit/console-site.ts';
import { Keyboard } from './kit/keyboard.ts';
import { findOverflow } from './kit/layout.ts';

const folder = newTempFolder();
after(() => folder[Symbol.dispose]());
const svgPath = join(folder.path, 'mark.svg');
const pngPath = join(folder.path, 'mark.png');
writeFileSync(svgPath, svgMark);
writeFileSync(pngPath, pngMark());

// A colour without enough contrast of its own in the light theme.
const look = { KEYREEVE_MARK: svgPath, KEYREEVE_ACCENT: '#ffd400' };
const test = consoleTests({ environment: look });
const databases = ['sqlite'] as const;

/** @returns the width of the mark in the image. It rejects if the browser cannot show the image */
const widthOfMark = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    const image = document.querySelector('img[src="/account/mark"]');
    await image.decode();
    return image.naturalWidth;
  })()`);

async function assertReadable(page: Page, what: string): Promise<void> {
  const faults = await findViolations(page);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    faults.push(...(await findUnreadable(page)));
  }
  const size = page.viewportSize() ?? { width: 1280, height: 900 };
  await page.setViewportSize({ width: 320, height: 640 });
  faults.push(...(await findOverflow(page)));
  await page.setViewportSize(size);
  assert.deepEqual(faults, [], what);
}

const invite = async (site: Parameters<Parameters<typeof test>[1]>[0], email: string): Promise<string> => {
  await site.app.service.services.administration.invite(operator, email, 'user');
  return linkIn(await site.mailbox.next({ to: email }));
};

test(
  'an invited person sees the operator’s mark and colour, and gets from the mail to the console by keyboard',
  async (site) => {
    const link = await invite(site, 'grace@example.com');
    const visitor = await site.open();
    visitor.expect(/^verbose: \[DOM\] /);
    const { page } = visitor;
    const keyboard = new Keyboard(page);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Accept your invitation' }).waitFor();
    assert.ok(Number(await widthOfMark(page)) > 0, 'the page shows the mark');
    await assertReadable(page, 'the page of an invitation');
    await keyboard.type(page.getByLabel('New password'), goodPassword);
    await page.keyboard.press('Enter');
    const button = page.getByRole('link', { name: 'Sign in to Example' });
    await button.waitFor();
    await assertReadable(page, 'the end of an invitation');
    await keyboard.moveTo(button);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/sign-in');
    assert.ok(Number(await widthOfMark(page)) > 0, 'the console shows the mark');
    assert.equal(
      await page.evaluate(`getComputedStyle(document.querySelector('.button.primary')).backgroundColor`),
      await page.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        probe.style.color = 'var(--accent-fill)';
        const { color } = getComputedStyle(probe);
        probe.remove();
        return color;
      })()`),
    );
    assert.match(
      String(await page.evaluate(`document.querySelector('link[rel=icon]').href`)),
      /\/account\/mark$/,
      'the icon of the tab',
    );
    await assertReadable(page, 'the sign-in');
  },
  { databases },
);

test(
  'the pages of a sign-up and of a new password end with the button, in German too',
  async (site) => {
    const visitor = await site.open({ locale: 'de-DE' });
    visitor.expect(/^verbose: \[DOM\] /);
    const { page } = visitor;
    const { email } = await site.app.createAccount();
    await site.app.call('POST', '/auth/password-resets', { json: { email } });
    await page.goto(linkIn(await site.mailbox.next({ to: email })));
    await page.getByLabel('Neues Passwort').fill('ein ganz anderes Passwort 7');
    await page.getByRole('button', { name: 'Passwort setzen' }).click();
    await page.getByRole('link', { name: 'Bei Example anmelden' }).waitFor();
    await site.app.call('POST', '/auth/accounts', { json: { email: 'alan@example.com', password: goodPassword } });
    await page.goto(linkIn(await site.mailbox.next({ to: 'alan@example.com' })));
    await page.getByLabel('Passwort').fill(goodPassword);
    await page.getByRole('button', { name: 'E-Mail-Adresse bestätigen' }).click();
    await page.getByRole('link', { name: 'Bei Example anmelden' }).click();
    await page.getByRole('heading', { name: 'Anmelden', exact: true }).waitFor();
  },
  { databases },
);

test(
  'every page of the console has a link to the documentation, and a PNG mark is shown too',
  async (site) => {
    const { headers, status } = await site.app.call('GET', '/account/mark');
    assert.deepEqual(
      [status, headers.get('content-type'), headers.get('content-security-policy')],
      [200, 'image/png', "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
    );
    const visitor = await site.openSignedIn();
    const { page } = visitor;
    await visitor.goto('/console/keys');
    assert.equal(await widthOfMark(page), 16);
    const path = await page.getByRole('link', { name: 'Documentation' }).getAttribute('href');
    assert.equal((await site.app.call('GET', path ?? '')).status, 200);
  },
  { databases, isAlone: true, environment: { ...look, KEYREEVE_MARK: pngPath } },
);

test(
  'without a mark there is no image, and no page of a link asks for one',
  async (site) => {
    const answer = await site.app.call('GET', '/account/mark');
    assert.equal(answer.status, 404);
    const page = await site.app.call('GET', '/account/reset-password');
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /img-src/);
  },
  { databases, isAlone: true, environment: { KEYREEVE_MARK: '', KEYREEVE_ACCENT: '' } },
);
