/** The pages of links in mail, in a browser: what they display, and which requests they send. */
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
  /** `method URL` of each, in order. */
  readonly requests: string[];
  /** Errors and warnings of the browser, such as a script that the content security policy blocks. */
  readonly messages: string[];
}

/** Opens a link in a new browser context. */
async function open(browser: Browser, link: string): Promise<Visit> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const [requests, messages]: [string[], string[]] = [[], []];
  page.on('request', (request) => requests.push(`${request.method()} ${request.url()}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) messages.push(message.text());
  });
  page.on('pageerror', (error) => messages.push(error.message));
  await page.goto(link);
  return { page, requests, messages };
}

const shows = (page: Page, text: RegExp): Promise<void> => page.getByRole('status').filter({ hasText: text }).waitFor();

function inBrowser(guarantee: string, check: (browser: Browser, client: AccountClient) => Promise<void>): void {
  test(guarantee, async (t: TestContext) => {
    const browser = await openBrowser(t);
    if (!browser) return;
    try {
      await using client = await newAccountClient();
      await check(browser, client);
    } finally {
      await browser.close();
    }
  });
}

inBrowser(
  'the page of a sign-up verifies the email address, and sends the code only after a click',
  async (browser, client) => {
    await client.signUp(email);
    const link = linkIn(await client.mailbox.next({ to: email }));
    const { page, requests, messages } = await open(browser, link);
    const { origin } = new URL(link);
    assert.equal(page.url(), `${origin}/account/verify-email`, 'the URL no longer contains the code');
    assert.deepEqual(requests, [`GET ${origin}/account/verify-email`], 'no other requests');

    await page.getByLabel('Password').fill('not the right password');
    await page.getByRole('button').click();
    await shows(page, /The password is wrong/);
    await page.getByLabel('Password').fill(goodPassword);
    await page.getByRole('button').click();
    await shows(page, /verified/);
    await client.signIn(email);
    assert.equal(await page.getByRole('button').isVisible(), false, 'the form cannot be sent twice');
    assert.deepEqual(
      requests.slice(1),
      Array.from({ length: 2 }, () => `POST ${origin}/auth/accounts/verify`),
    );
    // The browser logs the 401.
    assert.deepEqual(
      messages.filter((text) => !text.includes('401')),
      [],
    );
    assert.deepEqual(await page.context().cookies(), []);
  },
);

inBrowser(
  'the page of a password reset sets the password and lists the keys that stay valid',
  async (browser, client) => {
    const tokens = await client.newAccount(email);
    await client.createKey(tokens, '<b>billing</b>');
    await client.post('/auth/password-resets', { email });
    const first = linkIn(await client.mailbox.next({ subject: 'Set a new password' }));
    const { page, messages } = await open(browser, first);
    const field = page.getByLabel('New password');
    assert.deepEqual(
      [await field.getAttribute('type'), await field.getAttribute('autocomplete')],
      ['password', 'new-password'],
    );
    await field.fill('short');
    await page.getByRole('button').click();
    await shows(page, /too short/);
    await field.fill(otherPassword);
    await page.getByRole('button').click();
    await shows(page, /in force/);
    assert.equal(
      await page.getByRole('listitem').innerText(),
      '<b>billing</b>',
      'names are displayed as text, not as HTML',
    );
    await client.signIn(email, otherPassword);

    await client.post('/auth/password-resets', { email });
    const second = await open(browser, linkIn(await client.mailbox.next({ subject: 'Set a new password' })));
    await second.page.getByLabel('New password').fill(goodPassword);
    await second.page.getByLabel('delete all my API keys').check();
    await second.page.getByRole('button').click();
    await shows(second.page, /no API keys/);
    // The browser logs the 400.
    assert.deepEqual(
      [...messages, ...second.messages].filter((text) => !text.includes('400')),
      [],
    );
  },
);

inBrowser('the page without a code can request the mail', async (browser, client) => {
  await client.newAccount(email);
  await client.untilOutboxEmpty();
  const { page } = await open(browser, `${client.app.service.publicUrl}/account/reset-password`);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send the mail' }).click();
  await shows(page, /on its way/);
  assert.ok(await client.nextCode(email, 'Set a new password'));
});

inBrowser(
  'a link whose fragment a mail gateway has removed or encoded completes a sign-up',
  async (browser, client) => {
    for (const [index, rewrite] of [
      (link: string) => link.replace(/#.*/, ''),
      (link: string) => link.replace('#', '%23'),
    ].entries()) {
      const address = `reader${index}@example.com`;
      await client.signUp(address);
      const link = linkIn(await client.mailbox.next({ to: address }));
      const { page } = await open(browser, rewrite(link));
      assert.equal(page.url(), link.replace(/#.*/, ''));
      if (index === 0) await page.getByLabel('Code from the mail').fill(link);
      await page.getByLabel('Password').fill(goodPassword);
      await page.getByRole('button', { name: 'Verify my email address' }).click();
      await shows(page, /verified/);
      await client.signIn(address);
    }
  },
);

inBrowser('a link that is pasted into the tab of an earlier one is read', async (browser, client) => {
  await client.newAccount(email);
  const path = `${client.app.service.publicUrl}/account/reset-password`;
  const { page } = await open(browser, `${path}#krvc_${'0'.repeat(49)}`);
  await page.getByLabel('New password').fill(otherPassword);
  await page.getByRole('button').click();
  await shows(page, /no longer valid/);
  await page.goto(`${path}#${await client.resetCode(email)}`);
  await page.getByRole('status').filter({ hasNotText: 'no longer valid' }).waitFor({ state: 'attached' });
  await page.getByLabel('New password').fill(otherPassword);
  await page.getByRole('button').click();
  await shows(page, /in force/);
});

inBrowser('the page of an email change requires the password', async (browser, client) => {
  const tokens = await client.newAccount(email);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: 'new@example.com', currentPassword: goodPassword });
  const { page } = await open(browser, linkIn(await client.mailbox.next({ to: 'new@example.com' })));
  const field = page.getByLabel('Password');
  assert.equal(await field.getAttribute('autocomplete'), 'current-password');
  await field.fill(goodPassword);
  await page.getByRole('button').click();
  await shows(page, /new email/);
  await client.signIn('new@example.com');
});

inBrowser('the page of an expired link states the next step', async (browser, client) => {
  const code = `krvc_${'0'.repeat(49)}`;
  const steps = {
    'verify-email': /Enter your email address/,
    'reset-password': /Enter your email address/,
    'change-email': /request the change again/,
    'undo-email-change': /contact the support/,
    'accept-email': /ask an administrator/,
    'remove-key': /delete the key there/,
    'accept-invitation': /receive a new mail/,
  };
  for (const [name, step] of Object.entries(steps)) {
    const { page } = await open(browser, `${client.app.service.publicUrl}/account/${name}#${code}`);
    for (const field of await page.locator('input[type=password]:visible').all()) await field.fill(goodPassword);
    for (const field of await page.locator('input[type=email]:visible').all()) await field.fill(email);
    await page.locator('button:visible').click();
    await shows(page, /no longer valid/);
    assert.match(await page.locator('main').innerText(), step, name);
    assert.equal(await page.evaluate('document.activeElement.className'), 'failed', 'the focus is on the error');
    await page.context().close();
  }
});
