/** Each step of the approval while the service refuses it: the page states what to do, keeps the input and repeats the step. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { bearer } from '../../server/test-kit/new-app.ts';
import { findFaults } from './accessibility.ts';
import { consoleTests, type ConsoleSite } from './kit/console-site.ts';
import { beginSignIn, enterCode, program } from './kit/device.ts';
import { breakDatabase } from './kit/outage.ts';

const test = consoleTests();

const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const alertWith = (page: Page, text: string) => page.locator('main').getByRole('alert').filter({ hasText: text });

async function openReview(site: ConsoleSite) {
  const visitor = await site.openSignedIn();
  const begun = await beginSignIn(site.app);
  await visitor.goto(`/console/device#${begun.user_code}`);
  await button(visitor.page, 'My terminal shows this code').click();
  await heading(visitor.page, 'Approve Acme CLI?');
  return { visitor, page: visitor.page, code: begun.user_code, deviceCode: begun.device_code };
}

test(
  'too many wrong codes show when the next one is possible, at the code and at the decision',
  async (site) => {
    const { visitor, page } = await openReview(site);
    visitor.expectStatus(404, 429);
    const tab = await visitor.openTab();
    await visitor.goto('/console/device', tab);
    const attempt = async (): Promise<number> => {
      const answered = tab.waitForResponse('**/approvals/lookup');
      await enterCode(tab, 'BBBB-BBBB');
      return (await answered).status();
    };
    for (let count = 0; count < 10; count++) {
      assert.equal(await attempt(), 404);
      await tab.locator('.field-error').filter({ hasText: 'No program is waiting with this code.' }).waitFor();
    }
    assert.equal(await attempt(), 429);
    const sentence = 'Too many wrong codes were entered. You can try again at';
    const wait = /^Try again in \d\d:\d\d$/;
    await alertWith(tab, sentence).waitFor();
    await tab.getByRole('button', { name: wait }).waitFor();
    assert.equal(await tab.getByLabel('Code').inputValue(), 'BBBB-BBBB');
    assert.deepEqual(await findFaults(tab), []);
    await tab.close();

    await page.getByLabel('Nickname').fill('laptop');
    await button(page, 'Approve').click();
    await alertWith(page, sentence).waitFor();
    await page.getByRole('button', { name: wait }).waitFor();
    await button(page, 'Deny').click();
    await alertWith(page, sentence).getByRole('button', { name: wait }).waitFor();
    assert.equal(await page.getByLabel('Nickname').inputValue(), 'laptop');
    assert.deepEqual(await findFaults(page), []);
  },
  { isAlone: true, areRequestsLimited: true, databases: ['sqlite'] },
);

test(
  'while the database is unavailable, each step states it and keeps the input, and is repeated afterwards',
  async (site) => {
    const sentence = 'Try again in a moment. You can repeat each step of this page.';
    const outage = async (page: Page, step: () => Promise<void>): Promise<void> => {
      const repair = await breakDatabase(site.app.place.url);
      await step();
      await alertWith(page, sentence).waitFor();
      assert.deepEqual(await findFaults(page), []);
      await repair();
      await page.evaluate('dispatchEvent(new Event("online"))');
      await page.locator('.banner').waitFor({ state: 'detached' });
    };
    const visitor = await site.openSignedIn();
    visitor.expectStatus(503);
    const { page } = visitor;
    const { user_code: code, device_code: deviceCode } = await beginSignIn(site.app);
    await visitor.goto('/console/device');
    await outage(page, () => enterCode(page, code));
    assert.equal(await page.getByLabel('Code').inputValue(), code);
    await button(page, 'Continue').click();
    await heading(page, 'Approve Acme CLI?');

    await page.getByLabel('Nickname').fill('laptop');
    await page.getByLabel('orders:write').uncheck();
    await outage(page, () => button(page, 'Deny').click());
    await outage(page, () => button(page, 'Approve').click());
    await button(page, 'Approve').click();
    await heading(page, 'Go back to your terminal');
    const { deviceRequests } = site.app.service.services;
    const { nickname, scopes, secret } = await deviceRequests.poll({
      clientId: program.id,
      deviceCode,
      clientIp: '127.0.0.1',
    });
    assert.deepEqual([nickname, scopes], ['laptop', ['orders:read']]);
    assert.equal((await site.app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status, 200);

    for (const isApproved of [false, true]) {
      const next = await openReview(site);
      next.visitor.expectStatus(503);
      if (isApproved) {
        await button(next.page, 'Approve').click();
        await heading(next.page, 'Go back to your terminal');
      }
      await outage(next.page, () => button(next.page, isApproved ? 'Take the approval back' : 'Deny').click());
      await alertWith(next.page, sentence).getByRole('button', { name: 'Try again' }).click();
      await heading(next.page, 'The program was denied');
    }
  },
  { isAlone: true, databases: ['postgres'] },
);
