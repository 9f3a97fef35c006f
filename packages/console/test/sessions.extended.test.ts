/** The session of a person: sign-in, its end here and elsewhere, and the confirmation of the password. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { codeAt, newEnrolledAccount, wrongCode } from '../../server/test-kit/authenticator.ts';
import type { TestApp } from '../../server/test-kit/new-app.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, type ConsoleSite } from './kit/console-site.ts';
import { signIn, signOut } from './kit/sign-in.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

const heading = (visitor: Visitor, name: string): Promise<void> =>
  visitor.page.getByRole('heading', { level: 1, name }).waitFor();

test('a sign-in shows the page of the URL, and scripts cannot read the session', async (site) => {
  const { email } = await site.app.createAccount();
  const visitor = await site.open();
  // The wrong password.
  visitor.expectStatus(401);
  const { page } = visitor;
  await visitor.goto('/console/security');
  await heading(visitor, 'Sign in');
  assert.equal(await page.getByLabel('Password', { exact: true }).getAttribute('type'), 'password');
  await signIn(page, email, 'a wrong password');
  await page.getByText('The email address or the password is wrong.').waitFor();
  assert.equal(await page.getByLabel('Email address').inputValue(), email, 'the form keeps the email address');
  await signIn(page, email);
  await heading(visitor, 'Security');
  assert.equal(await page.evaluate('document.cookie'), '');
  const [cookie, ...others] = await visitor.context.cookies();
  assert.deepEqual(others, []);
  assert.deepEqual([cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.path], ['kr_s', true, 'Strict', '/']);
  await page.reload();
  await heading(visitor, 'Security');
});

test('a sign-out ends the session in all tabs and on the server', async (site) => {
  const visitor = await site.openSignedIn();
  visitor.expect(/^info: Clear-Site-Data header .* Cleared data types: "cache", "storage"/);
  const { page, context } = visitor;
  await visitor.goto('/console/keys');
  const tab = await visitor.openTab();
  await visitor.goto('/console/security', tab);
  const cookies = await context.cookies();
  await signOut(page);
  await heading(visitor, 'Sign in');
  await tab.getByText('You signed out in another tab.').waitFor();
  await tab.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  assert.deepEqual(await context.cookies(), []);
  await context.addCookies(cookies);
  await visitor.goto('/console/keys');
  await heading(visitor, 'Sign in');
});

test('a sign-in in one tab shows the page in the other tab', async (site) => {
  const { email } = await site.app.createAccount();
  const visitor = await site.open();
  await visitor.goto('/console/security');
  const tab = await visitor.openTab();
  await visitor.goto('/console/keys', tab);
  await signIn(tab, email);
  await heading(visitor, 'Security');
});

/** Holds the requests of the session with the method. @returns `begun` once there is one, and a function that lets them continue */
async function holdSession(page: Page, method: string): Promise<{ begun: Promise<void>; release: () => void }> {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route('/console/session', async (route) => {
    if (route.request().method() !== method) return route.continue();
    // What the server says now.
    const response = await route.fetch();
    begun.resolve();
    await released.promise;
    await route.fulfill({ response });
  });
  return { begun: begun.promise, release: released.resolve };
}

test('a response about the session before a sign-in does not end the new session', async (site) => {
  const { email } = await site.app.createAccount();
  const visitor = await site.open();
  const { page } = visitor;
  await visitor.goto('/console/security');
  const held = await holdSession(page, 'GET');
  // As another tab that has signed in.
  await page.evaluate(`new BroadcastChannel('keyreeve-console').postMessage('signed-in')`);
  await held.begun;
  await signIn(page, email);
  await heading(visitor, 'Security');
  await visitor.settle();
  const answered = page.waitForResponse('/console/session');
  held.release();
  await (await answered).finished();
  await page.getByRole('link', { name: 'API keys' }).first().click();
  await heading(visitor, 'API keys');
  await page.unrouteAll({ behavior: 'wait' });
});

test('while a second factor is checked, the page offers no other step', async (site) => {
  const { account, secret } = await newEnrolledAccount(site.app);
  const visitor = await site.open();
  visitor.expectStatus(401);
  const { page } = visitor;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await visitor.goto('/console');
  await signIn(page, account.email);
  await heading(visitor, 'Second factor');
  const submitHeld = async (field: string, code: string, links: readonly string[]): Promise<void> => {
    const held = await holdSession(page, 'POST');
    await page.getByLabel(field, { exact: true }).fill(code);
    await button('Sign in').click();
    await held.begun;
    for (const link of links) {
      assert.equal(await button(link).getAttribute('aria-disabled'), 'true', link);
      // Playwright would wait until the button is enabled.
      await button(link).dispatchEvent('click');
    }
    assert.equal(await page.getByLabel(field, { exact: true }).inputValue(), code);
    held.release();
    await page.unrouteAll({ behavior: 'wait' });
  };
  await submitHeld('One-time code', wrongCode(secret, site.app.clock.now()), ['Use a recovery code', 'Back']);
  await page.getByText('The one-time code is wrong,').waitFor();
  await button('Use a recovery code').click();
  await submitHeld('Recovery code', 'a wrong recovery code', ['Use a one-time code', 'Back']);
  await page.getByText('The recovery code is wrong').waitFor();
  await button('Use a one-time code').click();
  await submitHeld('One-time code', codeAt(secret, site.app.clock.now()), ['Use a recovery code', 'Back']);
  await heading(visitor, 'API keys');
});

/** What ends the session of an open page. */
const ends: Readonly<
  Record<string, (site: ConsoleSite, visitor: Visitor & { email: string }) => Promise<void> | void>
> = {
  'was idle for 12 hours': ({ app }) => app.clock.advance({ seconds: 12 * 3_600 + 1 }),
  'was ended elsewhere': async ({ app }, { email }) => accounts(app).endSessions(operator, await idOf(app, email)),
  'belongs to a disabled account': async ({ app }, { email }) => {
    await accounts(app).disable(operator, await idOf(app, email));
    await accounts(app).enable(operator, await idOf(app, email));
  },
};
const accounts = (app: TestApp) => app.service.services.accounts;
const idOf = async (app: TestApp, email: string): Promise<string> => (await accounts(app).find(email)).id;

for (const [what, end] of Object.entries(ends)) {
  test(`when the session ${what}, the next click leads to the sign-in, and then to the requested page`, async (site) => {
    const visitor = await site.openSignedIn();
    visitor.expectStatus(401);
    const { page } = visitor;
    await visitor.goto('/console/keys');
    await end(site, visitor);
    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByText(/Your session has ended.* Sign in again to continue\./).waitFor();
    await heading(visitor, 'Sign in');
    assert.equal(new URL(page.url()).pathname, '/console/security');
    await signIn(page, visitor.email);
    await heading(visitor, 'Security');
  });
}

test('an operation that needs a recent sign-in asks for the password, and is repeated once', async (site) => {
  const visitor = await site.openSignedIn();
  const { app } = site;
  const ownerId = await idOf(app, visitor.email);
  const { id } = await app.service.services.serviceAccounts.create(operator, ownerId, { name: 'deployment' });
  app.clock.advance({ seconds: 6 * 60 });
  // The request before the confirmation, and the wrong password.
  visitor.expectStatus(400, 401, 403);
  const { page } = visitor;
  await visitor.goto(`/console/service-accounts/${id}`);
  await page.getByRole('button', { name: 'Delete service account' }).click();
  const dialog = page.getByRole('dialog', { name: /Delete/ });
  await dialog.getByRole('textbox').fill('deployment');
  await dialog.getByRole('button', { name: /^Delete/ }).click();
  const confirmation = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await confirmation.getByLabel('Password', { exact: true }).fill('a wrong password');
  await confirmation.getByRole('button', { name: 'Confirm' }).click();
  await confirmation.locator('.field-error', { hasText: 'The password is wrong.' }).waitFor();
  await confirmation.getByLabel('Password', { exact: true }).fill(goodPassword);
  await confirmation.getByRole('button', { name: 'Confirm' }).click();
  await heading(visitor, 'Service accounts');
  const path = `DELETE /console/api/auth/service-accounts/${id}`;
  assert.equal(visitor.requests.filter((request) => request === path).length, 2);
});
