/** What the console shows while the service or its database does not respond, and when requests are limited. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { goodPassword } from '../../server/test-kit/new-app.ts';
import { consoleTests } from './kit/console-site.ts';
import { breakDatabase } from './kit/outage.ts';
import { signIn } from './kit/sign-in.ts';

const test = consoleTests();

/** More than the rate limit of sign-ins allows. */
const attemptsMax = 40;

const banner = (page: Page, sentence: string): Locator => page.getByRole('alert').filter({ hasText: sentence }).first();

/** The parts of a page load one after another. */
const noAlert = (page: Page): Promise<void> => page.getByRole('alert').first().waitFor({ state: 'detached' });

test(
  'while the database is unavailable, the console states it, and continues after its return',
  async (site) => {
    const visitor = await site.openSignedIn();
    visitor.expectStatus(503);
    const { page } = visitor;
    await visitor.goto('/console/keys');
    const repair = await breakDatabase(site.app.place.url);
    await page.getByRole('link', { name: 'Security' }).click();
    const outage = banner(page, 'The service cannot reach its database. API keys are rejected until it can.');
    await outage.waitFor();
    await page
      .getByText(/Request ID: \w+/)
      .first()
      .waitFor();
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
    await repair();
    // The console asks again by itself; this event makes it ask now.
    await page.evaluate('dispatchEvent(new Event("online"))');
    await outage.waitFor({ state: 'detached' });
    await page.getByText('this session').first().waitFor();
    await noAlert(page);
  },
  // The service ends soon after its SQLite file was removed.
  { isAlone: true, databases: ['postgres'] },
);

test('without a network, the console states it, keeps the page, and continues after its return', async (site) => {
  const visitor = await site.openSignedIn();
  visitor.expect(/net::ERR_INTERNET_DISCONNECTED/);
  const { page } = visitor;
  await visitor.goto('/console/security');
  await visitor.context.setOffline(true);
  await page.getByRole('link', { name: 'API keys' }).first().click();
  await banner(page, 'The service cannot be reached').waitFor();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await visitor.context.setOffline(false);
  await page.getByText('No API keys yet').waitFor();
  await noAlert(page);
});

test(
  'too many wrong passwords show from when on the next attempt is possible',
  async (site) => {
    const { email } = await site.app.createAccount();
    const visitor = await site.open();
    visitor.expectStatus(401, 429);
    const { page } = visitor;
    await visitor.goto('/console');
    const attempt = async (password: string): Promise<number> => {
      const answered = page.waitForResponse('**/console/session');
      await signIn(page, email, password);
      return (await answered).status();
    };
    let status = 401;
    for (let count = 0; count < attemptsMax && status === 401; count++) {
      status = await attempt('a wrong password');
      await banner(page, status === 401 ? 'is wrong' : 'You can try again at').waitFor();
    }
    assert.equal(status, 429);
    assert.equal(await attempt(goodPassword), 429, 'the right password is not accepted either');
    await banner(page, 'You can try again at').waitFor();
    assert.ok(await page.getByRole('heading', { name: 'Sign in' }).isVisible());
  },
  { isAlone: true, areRequestsLimited: true },
);
