/** The first page, from an empty installation to the page of keys, and sign-up where it is open. */
import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { linkIn } from '../../server/test-kit/mailbox.ts';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests } from './kit/console-site.ts';
import { signIn } from './kit/sign-in.ts';

const test = consoleTests();

test(
  'the first visitor creates the administrator with the setup code and is signed in',
  async (site) => {
    let code = '';
    await site.app.service.services.firstAdministrator.createCode((text) => (code = text.reveal()));
    const visitor = await site.open();
    visitor.expectStatus(400);
    const { page } = visitor;
    // The link of the terminal, with an invalid code.
    const wrong = `krvc_${'0'.repeat(49)}`;
    await page.goto(`/#${wrong}`);
    await page.getByRole('heading', { name: 'Create the first administrator' }).waitFor();
    const { pathname, hash } = new URL(page.url());
    assert.deepEqual([pathname, hash, await page.getByLabel('Setup code').inputValue()], ['/console', '', wrong]);
    assert.equal(await page.evaluate('document.activeElement.name'), 'email');
    await page.getByLabel('Email address').fill('root@example.org');
    await page.getByLabel('Password', { exact: true }).fill(goodPassword);
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    await page.getByLabel('Setup code').fill(code);
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    assert.equal((await site.app.service.services.accounts.find('root@example.org')).role, 'admin');
    const next = await site.open();
    await next.goto('/console');
    await next.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  },
  { isAlone: true, hasNoAdministrator: true },
);

test(
  'after an administrator was created elsewhere, the page for the first one leads to the sign-in',
  async (site) => {
    const visitor = await site.open();
    visitor.expectStatus(400, 401);
    const { page } = visitor;
    // Accounts that an operator has created can approve programs.
    await visitor.goto('/console/device');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await visitor.goto('/console');
    await site.app.service.services.accounts.create(operator, 'root@example.org', new Secret(goodPassword), 'admin');
    await page.getByLabel('Setup code').fill(`krvc_${'0'.repeat(49)}`);
    await page.getByLabel('Email address').fill('ada@example.org');
    await page.getByLabel('Password', { exact: true }).fill(goodPassword);
    await page.getByRole('button', { name: 'Create administrator' }).click();
    await page.getByText('This installation has an administrator now.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  },
  { isAlone: true, hasNoAdministrator: true },
);

test('a stranger signs up, verifies the email address, and signs in', async (site) => {
  const visitor = await site.open();
  // The page of the link in the mail is not part of the console.
  visitor.expect(/^verbose: \[DOM\] Password forms should have .*\/account\/verify-email/);
  const { page } = visitor;
  await visitor.goto('/console');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await page.getByLabel('Email address').fill('grace@example.com');
  await page.getByLabel('Password', { exact: true }).fill(goodPassword);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(linkIn(await site.mailbox.next({ to: 'grace@example.com' })));
  await page.getByLabel('Password').fill(goodPassword);
  await page.getByRole('button').click();
  await page
    .getByRole('status')
    .filter({ hasText: /verified/ })
    .waitFor();
  await visitor.goto('/console');
  await signIn(page, 'grace@example.com');
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
});

test(
  'the first page makes at most 10 requests, and one to offer passkeys, all to the origin of the console',
  async (site) => {
    const visitor = await site.open({ isNew: true });
    const loaded: URL[] = [];
    visitor.context.on('request', (request: Request) => void loaded.push(new URL(request.url())));
    await visitor.goto('/console');
    await visitor.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const offers = loaded.filter(({ pathname }) => pathname === '/auth/passkeys/sign-in/options');
    const paths = loaded.map(({ pathname }) => pathname).join('\n');
    assert.deepEqual([...new Set(loaded.map(({ origin }) => origin))], [site.origin]);
    assert.ok(offers.length <= 1, paths);
    assert.ok(loaded.length - offers.length <= 10, paths);
  },
  { databases: ['sqlite'] },
);
