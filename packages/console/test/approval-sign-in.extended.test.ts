/** The code of a link survives every way to sign in, also those that leave the page, and each person confirms it. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Page } from 'playwright-core';
import { linkIn } from '../../server/test-kit/mailbox.ts';
import { bearer, goodPassword } from '../../server/test-kit/new-app.ts';
import { newOpenIdProvider } from '../../server/test-kit/openid-provider.ts';
import { addAuthenticator } from '../../server/test-kit/virtual-authenticator.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { beginSignIn, enterCode, program } from './kit/device.ts';
import { signIn, signOut } from './kit/sign-in.ts';
import type { Visitor } from './kit/visitor.ts';

const provider = await newOpenIdProvider();
after(() => provider[Symbol.asyncDispose]());
/** The ways to sign in do not depend on the database. */
const testOf = consoleTests({ environment: provider.environment });
const test = (guarantee: string, prove: (site: ConsoleSite) => Promise<void>, isAlone = false): void =>
  testOf(guarantee, prove, { databases: ['sqlite'], isAlone });

const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const atProvider = /^foreign request: http:\/\/127\.0\.0\.1:\d+\/authorize\?/;

/** The code of the link is shown on the page of its own, not in its URL. */
async function assertCompares(page: Page, code: string): Promise<void> {
  await button(page, 'My terminal shows this code').waitFor();
  assert.equal(await page.locator('.user-code').innerText(), code);
  assert.equal(new URL(page.url()).pathname, '/console/device');
}

/** Opens the link of a program. All requests, also those to the provider, must be without the code. */
async function openLink(site: ConsoleSite, visitor: Visitor) {
  const { user_code: code, device_code: deviceCode } = await beginSignIn(site.app);
  const sent: string[] = [];
  visitor.context.on('request', (request) => {
    const text = `${request.url()} ${request.postData() ?? ''}`;
    if (text.includes(code) && !request.url().includes('/auth/approvals/')) sent.push(text);
  });
  await visitor.goto(`/console/device#${code}`);
  return { code, deviceCode, assertUnsent: () => assert.deepEqual(sent, []) };
}

test('single sign-on returns to the code, and a later confirmation also to what the person has chosen', async (site) => {
  const visitor = await site.open();
  visitor.expect(atProvider);
  visitor.expectStatus(403);
  const { page } = visitor;
  const { code, deviceCode, assertUnsent } = await openLink(site, visitor);
  const signedInAgo = (seconds: number): void => {
    const authTime = Math.floor(site.app.clock.now() / 1_000) - seconds;
    provider.claims = (claims) => ({ ...claims, auth_time: authTime });
  };
  // At the provider: an approval needs a sign-in within the last 5 minutes.
  signedInAgo(600);
  await button(page, 'Sign in with Example ID').click();
  await assertCompares(page, code);
  signedInAgo(0);
  await button(page, 'My terminal shows this code').click();
  await heading(page, 'Approve Acme CLI?');
  await page.getByLabel('Nickname').fill('laptop');
  await page.getByLabel('orders:write').uncheck();
  await page.getByLabel('Valid for').selectOption('3600');
  await button(page, 'Approve').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in with Example ID' }).click();
  await assertCompares(page, code);
  await button(page, 'My terminal shows this code').click();
  await heading(page, 'Approve Acme CLI?');
  await button(page, 'Approve').click();
  await heading(page, 'Go back to your terminal');
  const { deviceRequests } = site.app.service.services;
  const { nickname, scopes, expiresInSeconds } = await deviceRequests.poll({
    clientId: program.id,
    deviceCode,
    clientIp: '127.0.0.1',
  });
  assert.deepEqual([nickname, scopes, expiresInSeconds], ['laptop', ['orders:read'], 3_600]);
  assertUnsent();
  assert.equal(await page.evaluate('sessionStorage.length'), 0, 'nothing is kept after the decision');
});

test('after a single sign-on that failed, the next sign-in returns to the code', async (site) => {
  const visitor = await site.open();
  visitor.expect(atProvider);
  visitor.expectStatus(403);
  const { page } = visitor;
  const { code } = await openLink(site, visitor);
  const { person } = provider;
  provider.person = { ...person, groups: ['staff'] };
  await button(page, 'Sign in with Example ID').click();
  await page.locator('main a.button').click();
  await heading(page, 'Sign in');
  provider.person = person;
  await button(page, 'Sign in with Example ID').click();
  await assertCompares(page, code);
});

test(
  'a passkey signs in on the page of the code, and approves after a confirmation',
  async (site) => {
    const visitor = await site.openSignedIn();
    visitor.expectStatus(401, 403);
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    await addAuthenticator(await visitor.openProtocol());
    await visitor.goto('/console/security');
    await button(page, 'Add passkey').click();
    await dialog.getByLabel('Name').fill('laptop');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await visitor.context.clearCookies();

    // The authenticator chooses the suggestion of the sign-in page.
    const { code } = await openLink(site, visitor);
    await assertCompares(page, code);
    await button(page, 'My terminal shows this code').click();
    await heading(page, 'Approve Acme CLI?');
    site.app.clock.advance({ seconds: 6 * 60 });
    await button(page, 'Approve').click();
    await dialog.getByRole('button', { name: 'Use a passkey' }).click();
    await heading(page, 'Go back to your terminal');
  },
  true,
);

test('after a forgotten password, the sign-in returns to the code', async (site) => {
  const { email } = await site.app.createAccount();
  const visitor = await site.open();
  visitor.expect(/^verbose: \[DOM\] Password forms should have .*\/account\/reset-password/);
  const { page } = visitor;
  const { code, assertUnsent } = await openLink(site, visitor);
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email address').fill(email);
  await button(page, 'Send the mail').click();
  await page.goto(linkIn(await site.mailbox.next({ to: email, subject: /password/i })));
  const password = `${goodPassword} of today`;
  await page.getByLabel('New password').fill(password);
  await button(page, 'Set the password').click();
  await page.getByRole('link', { name: /^Sign in to/ }).click();
  await signIn(page, email, password);
  await assertCompares(page, code);
  assertUnsent();
});

test('after a sign-up, the tab of the link continues with the code when another one has signed in', async (site) => {
  const visitor = await site.open();
  visitor.expect(/^verbose: \[DOM\] Password forms should have .*\/account\/verify-email/);
  const { page } = visitor;
  const { code } = await openLink(site, visitor);
  const email = `new.${crypto.randomUUID()}@example.com`;
  await page.getByRole('link', { name: 'Create an account' }).click();
  await heading(page, 'Create an account');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(goodPassword);
  await button(page, 'Create account').click();
  await heading(page, 'Check your mail');
  const tab = await visitor.openTab();
  await tab.goto(linkIn(await site.mailbox.next({ to: email })));
  await tab.getByLabel('Password').fill(goodPassword);
  await button(tab, 'Verify my email address').click();
  await tab.getByRole('link', { name: /^Sign in to/ }).click();
  await signIn(tab, email);
  // Of this tab, the console knows no code.
  await heading(tab, 'API keys');
  await assertCompares(page, code);
  await tab.close();
});

test('with another account, a sign-in returns to the code, without what the person before had chosen', async (site) => {
  const visitor = await site.openSignedIn();
  visitor.expect(/^info: Clear-Site-Data header/);
  const { page } = visitor;
  const { user_code: code } = await beginSignIn(site.app);
  await visitor.goto('/console/device');
  await enterCode(page, code);
  await heading(page, 'Approve Acme CLI?');
  await page.getByLabel('Nickname').fill('laptop of Ada');
  await signOut(page);
  await heading(page, 'Sign in');
  const { email } = await site.app.createAccount();
  await signIn(page, email);
  await assertCompares(page, code);
  await button(page, 'My terminal shows this code').click();
  await heading(page, 'Approve Acme CLI?');
  assert.equal(await page.getByLabel('Nickname').inputValue(), 'Acme CLI');
});

test('after a reload, the page shows the code again and keeps the choices, and another tab shows an empty form', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  const { user_code: code } = await beginSignIn(site.app);
  await visitor.goto('/console/device');
  await enterCode(page, code.toLowerCase());
  await heading(page, 'Approve Acme CLI?');
  await page.getByLabel('orders:write').uncheck();
  await page.reload();
  await assertCompares(page, code);
  const tab = await visitor.openTab();
  await visitor.goto('/console/device', tab);
  await tab.getByLabel('Code').waitFor();
  await tab.close();
  await button(page, 'My terminal shows this code').click();
  await heading(page, 'Approve Acme CLI?');
  assert.equal(await page.getByLabel('orders:write').isChecked(), false);
  // The link to the content of the page.
  await page.evaluate(`location.hash = '#content'`);
  await heading(page, 'Approve Acme CLI?');
  await page.reload();
  await assertCompares(page, code);
});

test('a code that was kept for longer than it is valid is not shown', async (site) => {
  const visitor = await site.open({ hasClock: true });
  const { page } = visitor;
  for (const minutes of [9, 11]) {
    const { email } = await site.app.createAccount();
    await visitor.context.clearCookies();
    const { code } = await openLink(site, visitor);
    await visitor.goto('/console/sign-in');
    await page.clock.fastForward(minutes * 60_000);
    await signInByCookie(visitor.context, email);
    await visitor.goto('/console/sign-in');
    if (minutes < 10) await assertCompares(page, code);
    else await heading(page, 'API keys');
  }
});

test('a double click approves once, and Back shows the decision instead of the request', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  const { code, deviceCode } = await openLink(site, visitor);
  await button(page, 'My terminal shows this code').dblclick();
  await heading(page, 'Approve Acme CLI?');
  await button(page, 'Approve').dblclick();
  await heading(page, 'Go back to your terminal');
  const sent = visitor.requests.filter((request) => /approvals\/(?:lookup|apr_\w+\/approve)/.test(request));
  assert.equal(sent.length, 2, sent.join());
  const { deviceRequests } = site.app.service.services;
  const { secret } = await deviceRequests.poll({ clientId: program.id, deviceCode, clientIp: '127.0.0.1' });
  await page.getByRole('link', { name: 'Open the API key' }).click();
  await heading(page, 'Acme CLI');
  await page.goBack();
  await heading(page, 'Go back to your terminal');
  await page.reload();
  await page.getByLabel('Code').waitFor();
  assert.ok(!page.url().includes(code));
  assert.equal((await site.app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status, 200);
});

for (const [what, ms] of [
  ['a day ahead', 86_400_000],
  ['a day behind', -86_400_000],
] as const)
  test(`a browser whose clock is ${what} shows the time that is left, and approves`, async (site) => {
    const visitor = await site.openSignedIn({ hasClock: true });
    const { page } = visitor;
    await page.clock.setSystemTime(Date.now() + ms);
    await openLink(site, visitor);
    await button(page, 'My terminal shows this code').click();
    await heading(page, 'Approve Acme CLI?');
    assert.match(await page.locator('dl').innerText(), /\b(?:10:00|9:\d\d)\b/);
    await button(page, 'Approve').click();
    await heading(page, 'Go back to your terminal');
  });
