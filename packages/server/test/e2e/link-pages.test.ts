/** The pages that links in mail open, in a real browser: what a person sees, and what leaves the machine. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { linkIn } from '../../test-kit/mailbox.ts';
import { goodPassword } from '../../test-kit/new-app.ts';
import { newAccountClient, otherPassword, type AccountClient } from '../../test-kit/account-client.ts';
import { openBrowser } from './browser.ts';

const email = 'ada@example.com';

interface Visit {
  readonly page: Page;
  /** `method path` of each, in order. */
  readonly requests: string[];
  /** What the browser complained about: a script or a style that the policy forbids, say. */
  readonly complaints: string[];
}

/** A browser that knows nothing opens a link. */
async function open(browser: Browser, link: string): Promise<Visit> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const [requests, complaints]: [string[], string[]] = [[], []];
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(link);
  return { page, requests, complaints };
}

const says = (page: Page, text: RegExp): Promise<void> => page.getByRole('status').filter({ hasText: text }).waitFor();

function inBrowser(guarantee: string, prove: (browser: Browser, client: AccountClient) => Promise<void>): void {
  test(guarantee, { timeout: 300_000 }, async (t: TestContext) => {
    const browser = await openBrowser(t);
    if (!browser) return;
    try {
      await using client = await newAccountClient();
      await prove(browser, client);
    } finally {
      await browser.close();
    }
  });
}

inBrowser(
  'a sign-up is verified on its page, and the code leaves by the person’s click alone',
  async (browser, client) => {
    await client.signUp(email);
    const link = linkIn(await client.mailbox.next({ to: email }));
    const { page, requests, complaints } = await open(browser, link);
    const { origin } = new URL(link);
    assert.equal(page.url(), `${origin}/account/verify-email`, 'the code is gone from the address bar');
    assert.deepEqual(requests, [`GET ${origin}/account/verify-email`], 'nothing else is loaded, and nothing is sent');

    await page.getByLabel('Password').fill('not the right password');
    await page.getByRole('button').click();
    await says(page, /The password is wrong/);
    await page.getByLabel('Password').fill(goodPassword);
    await page.getByRole('button').click();
    await says(page, /verified/);
    await client.signIn(email);
    assert.equal(await page.getByRole('button').isVisible(), false, 'it can’t be sent twice');
    assert.deepEqual(
      requests.slice(1),
      Array.from({ length: 2 }, () => `POST ${origin}/auth/accounts/verify`),
    );
    // The browser itself tells of the 401.
    assert.deepEqual(
      complaints.filter((text) => !text.includes('401')),
      [],
    );
    assert.deepEqual(await page.context().cookies(), []);
  },
);

inBrowser('a password is reset on its page, which lists the keys that go on working', async (browser, client) => {
  const tokens = await client.newAccount(email);
  await client.createKey(tokens, '<b>billing</b>');
  await client.post('/auth/password-resets', { email });
  const first = linkIn(await client.mailbox.next({ subject: 'Set a new password' }));
  const { page, complaints } = await open(browser, first);
  const field = page.getByLabel('New password');
  assert.deepEqual(
    [await field.getAttribute('type'), await field.getAttribute('autocomplete')],
    ['password', 'new-password'],
  );
  await field.fill('short');
  await page.getByRole('button').click();
  await says(page, /too short/);
  await field.fill(otherPassword);
  await page.getByRole('button').click();
  await says(page, /in force/);
  assert.equal(await page.getByRole('listitem').innerText(), '<b>billing</b>', 'what is said is text');
  await client.signIn(email, otherPassword);

  await client.post('/auth/password-resets', { email });
  const second = await open(browser, linkIn(await client.mailbox.next({ subject: 'Set a new password' })));
  await second.page.getByLabel('New password').fill(goodPassword);
  await second.page.getByLabel('delete all my API keys').check();
  await second.page.getByRole('button').click();
  await says(second.page, /no API keys/);
  // The browser itself tells of the 400.
  assert.deepEqual(
    [...complaints, ...second.complaints].filter((text) => !text.includes('400')),
    [],
  );
});

inBrowser('who comes without a code can ask for the mail', async (browser, client) => {
  await client.newAccount(email);
  await client.untilOutboxEmpty();
  const { page } = await open(browser, `${client.app.service.publicUrl}/account/reset-password`);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button').click();
  await says(page, /on its way/);
  assert.ok(await client.nextCode(email, 'Set a new password'));
});

inBrowser('a new email is confirmed on its page with the password', async (browser, client) => {
  const tokens = await client.newAccount(email);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: 'new@example.com', currentPassword: goodPassword });
  const { page } = await open(browser, linkIn(await client.mailbox.next({ to: 'new@example.com' })));
  const field = page.getByLabel('Password');
  assert.equal(await field.getAttribute('autocomplete'), 'current-password');
  await field.fill(goodPassword);
  await page.getByRole('button').click();
  await says(page, /new email/);
  await client.signIn('new@example.com');
});

inBrowser('a link that is no longer valid states the next step', async (browser, client) => {
  const code = `krvc_${'0'.repeat(49)}`;
  const steps = {
    'verify-email': /Enter your email address/,
    'reset-password': /Enter your email address/,
    'change-email': /request the change again/,
    'undo-email-change': /contact the support/,
    'accept-email': /ask an administrator/,
    'accept-invitation': /ask an administrator for a new invitation/,
  };
  for (const [name, step] of Object.entries(steps)) {
    const { page } = await open(browser, `${client.app.service.publicUrl}/account/${name}#${code}`);
    for (const field of await page.locator('input[type=password]:visible').all()) await field.fill(goodPassword);
    await page.locator('button:visible').click();
    await says(page, /no longer valid/);
    assert.match(await page.locator('main').innerText(), step, name);
    assert.equal(await page.evaluate('document.activeElement.className'), 'failed', 'the focus is on the error');
    await page.context().close();
  }
});
