/** A person approves what a program asks for: the code, the right, the decision, and what comes between them. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DomainError } from '../../server/src/foundation/errors.ts';
import { codeAt, newEnrolledAccount } from '../../server/test-kit/authenticator.ts';
import { bearer, goodPassword, operator, type TestApp } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { beginSignIn, enterCode, program } from './kit/device.ts';
import { Keyboard } from './kit/keyboard.ts';
import { signIn } from './kit/sign-in.ts';

const test = consoleTests();

const heading = (page: Page, name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tenMinutes = 600;
/** What the page shows in these tests does not depend on the database. */
const once = { databases: ['sqlite'] } as const;

const poll = ({ service }: TestApp, deviceCode: string) =>
  service.services.deviceRequests.poll({ clientId: program.id, deviceCode, clientIp: '127.0.0.1' });

const refusal = (code: string) => (error: unknown) => error instanceof DomainError && error.code === code;

async function idOf({ service }: TestApp, email: string): Promise<string> {
  return (await service.services.accounts.find(email)).id;
}

/** A person who is signed in, at the request of a program. */
async function openReview(site: ConsoleSite, options: Parameters<ConsoleSite['openSignedIn']>[0] = {}) {
  const visitor = await site.openSignedIn(options);
  const { page } = visitor;
  const begun = await beginSignIn(site.app);
  await visitor.goto('/console/device');
  await enterCode(page, begun.user_code.toLowerCase().replace('-', ' '));
  await heading(page, 'Approve Acme CLI?');
  return { visitor, page, code: begun.user_code, deviceCode: begun.device_code };
}

test('by keyboard: the code of a link is confirmed, the right narrowed, and the program gets a key that the person deletes', async (site) => {
  const { app } = site;
  const { user_code: code, device_code: deviceCode } = await beginSignIn(app);
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  const keyboard = new Keyboard(page);
  await visitor.goto(`/console/device#${code}`);
  await page.getByText('No other person and no other website will ever ask you for this code.').waitFor();
  assert.equal(await page.locator('.user-code').innerText(), code);
  assert.deepEqual(
    visitor.requests.filter((request) => request.includes('approvals')),
    [],
    'the link alone looks up nothing',
  );
  await keyboard.press(button(page, 'My terminal shows this code'));
  await heading(page, 'Approve Acme CLI?');
  await keyboard.assertFocused(page.locator('h1'), 'the heading');
  const facts = await page.locator('dl').innerText();
  for (const fact of ['Acme CLI', 'acme-cli', '127.0.0.0/24', code]) assert.ok(facts.includes(fact), fact);

  await keyboard.type(page.getByLabel('Nickname'), 'laptop');
  await keyboard.press(page.getByLabel('orders:write'), 'Space');
  await keyboard.moveTo(page.getByLabel('Valid for'));
  await keyboard.key('Home');
  await keyboard.press(button(page, 'Approve'));
  await heading(page, 'Go back to your terminal');
  assert.equal(new URL(page.url()).hash, '', 'a reload asks for nothing');
  const { secret, nickname, scopes, expiresInSeconds } = await poll(app, deviceCode);
  assert.deepEqual([nickname, scopes, expiresInSeconds], ['laptop', ['orders:read'], 3_600]);

  await keyboard.press(page.getByRole('link', { name: 'Open the API key' }));
  await heading(page, 'laptop');
  await visitor.settle();
  await keyboard.press(button(page, 'Sign out this device'));
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await visitor.settle();
  await keyboard.press(dialog.getByRole('button', { name: 'Sign out this device' }));
  await heading(page, 'API keys');
  const status = (await app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status;
  assert.equal(status, 401);
});

test(
  'by keyboard: a typed code, and a denial, after which the program gets no key',
  async (site) => {
    const visitor = await site.openSignedIn({ colorScheme: 'dark', locale: 'de-DE', width: 320, height: 640 });
    const { page } = visitor;
    const { user_code: code, device_code: deviceCode } = await beginSignIn(site.app);
    const keyboard = new Keyboard(page);
    await visitor.goto('/console/device');
    await keyboard.assertFocused(page.getByLabel('Code'), 'the first field');
    await keyboard.type(page.getByLabel('Code'), code);
    await keyboard.key('Enter');
    await heading(page, 'Acme CLI genehmigen?');
    await keyboard.press(button(page, 'Ablehnen'));
    await heading(page, 'Das Programm wurde abgelehnt');
    await keyboard.assertFocused(page.locator('h1'), 'the heading');
    await assert.rejects(poll(site.app, deviceCode), refusal('access_denied'));
    await keyboard.press(button(page, 'Anderen Code eingeben'));
    await keyboard.assertFocused(page.getByLabel('Code'), 'the first field');
  },
  once,
);

test(
  'a person can take an approval back until the program has its key',
  async (site) => {
    const { page, deviceCode } = await openReview(site);
    await button(page, 'Approve').click();
    await button(page, 'Take the approval back').click();
    await heading(page, 'The program was denied');
    await assert.rejects(poll(site.app, deviceCode), refusal('access_denied'));
  },
  once,
);

test(
  'the link of another person leads to no request',
  async (site) => {
    const visitor = await site.openSignedIn();
    const { page } = visitor;
    visitor.expectStatus(404);
    await visitor.goto('/console/device#wdjbmjht');
    await button(page, 'It does not show this code').click();
    await heading(page, 'Do not continue');
    assert.deepEqual(
      visitor.requests.filter((request) => request.includes('approvals')),
      [],
    );
    // A link that is opened in the same tab.
    await page.evaluate(`location.hash = '#BBBB-BBBB'`);
    await button(page, 'My terminal shows this code').click();
    await page.getByRole('alert').filter({ hasText: 'No program is waiting with this code.' }).waitFor();
    // No text of the link is shown but a code.
    await page.evaluate(`location.hash = '#call-0800-111-222'`);
    await page.getByLabel('Code').waitFor();
  },
  once,
);

test(
  'a code expires at its time by the clock of the server, whatever the clock of the browser shows',
  async (site) => {
    const { visitor, page, deviceCode } = await openReview(site, { hasClock: true });
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 1_000);
    const checked = page.waitForResponse('**/console/session');
    await page.clock.fastForward(tenMinutes * 1_000);
    await (await checked).finished();
    await visitor.settle();
    await heading(page, 'Approve Acme CLI?');
    site.app.clock.advance({ seconds: tenMinutes });
    await page.clock.fastForward(tenMinutes * 1_000);
    await heading(page, 'The code has expired');
    await page.clock.resume();
    await assert.rejects(poll(site.app, deviceCode), refusal('expired_token'));
  },
  { isAlone: true, databases: ['sqlite'] },
);

test(
  'a decision on a request that has expired, and on one of a removed program, states which it is',
  async (site) => {
    const { app } = site;
    const expired = await openReview(site);
    expired.visitor.expectStatus(403, 404);
    app.clock.advance({ seconds: tenMinutes });
    await button(expired.page, 'Deny').click();
    await heading(expired.page, 'The code has expired');

    const removed = await openReview(site);
    removed.visitor.expectStatus(404);
    await app.service.services.programs.remove(operator, program.id, false);
    await button(removed.page, 'Approve').click();
    await heading(removed.page, 'The request has ended');
    await removed.page.getByText('The program has been removed, or another sign-in has replaced this one.').waitFor();
  },
  { isAlone: true },
);

test('a request that was decided in another tab, or by another person, states so', async (site) => {
  const { visitor, page, code } = await openReview(site);
  visitor.expectStatus(404, 409);
  const tab = await visitor.openTab();
  await visitor.goto(`/console/device#${code}`, tab);
  await button(tab, 'My terminal shows this code').click();
  await button(tab, 'Approve').click();
  await heading(tab, 'Go back to your terminal');
  await button(page, 'Approve').click();
  await heading(page, 'Go back to your terminal');
  // The same link, once more.
  await visitor.goto('/console/keys');
  await visitor.goto(`/console/device#${code}`);
  await button(page, 'My terminal shows this code').click();
  await page.getByText('You have approved the program.').waitFor();
  await button(page, 'Take the approval back').waitFor();
  await tab.close();

  const mine = await openReview(site);
  mine.visitor.expectStatus(404, 409);
  const other = await site.openSignedIn();
  await other.goto(`/console/device#${mine.code}`);
  await button(other.page, 'My terminal shows this code').click();
  await button(other.page, 'Deny').click();
  await heading(other.page, 'The program was denied');
  await button(mine.page, 'Approve').click();
  await heading(mine.page, 'Another account has decided');
});

test('an approval needs a recent sign-in, and is repeated after the confirmation', async (site) => {
  const { visitor, page, deviceCode } = await openReview(site);
  visitor.expectStatus(403);
  site.app.clock.advance({ seconds: 6 * 60 });
  await page.getByLabel('orders:write').uncheck();
  await button(page, 'Approve').click();
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByLabel('Password', { exact: true }).fill(goodPassword);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await heading(page, 'Go back to your terminal');
  assert.deepEqual((await poll(site.app, deviceCode)).scopes, ['orders:read']);
});

test('after the end of the session and another sign-in, the person continues with the same choices', async (site) => {
  const { visitor, page, deviceCode } = await openReview(site);
  const { accounts } = site.app.service.services;
  visitor.expectStatus(401);
  await page.getByLabel('Nickname').fill('laptop');
  await page.getByLabel('orders:read').uncheck();
  await page.getByLabel('Valid for').selectOption('3600');
  await accounts.endSessions(operator, await idOf(site.app, visitor.email));
  await button(page, 'Approve').click();
  await page.getByText('Your session has ended. Sign in again to continue.').waitFor();
  await signIn(page, visitor.email);
  await heading(page, 'Approve Acme CLI?');
  assert.equal(await page.getByLabel('Nickname').inputValue(), 'laptop');
  await button(page, 'Approve').click();
  await heading(page, 'Go back to your terminal');
  const { nickname, scopes, expiresInSeconds } = await poll(site.app, deviceCode);
  assert.deepEqual([nickname, scopes, expiresInSeconds], ['laptop', ['orders:write'], 3_600]);
});

test(
  'another person who signs in then has to confirm the code',
  async (site) => {
    const { user_code: code } = await beginSignIn(site.app);
    const visitor = await site.openSignedIn();
    const { page } = visitor;
    visitor.expectStatus(401);
    await visitor.goto(`/console/device#${code}`);
    await button(page, 'My terminal shows this code').click();
    await heading(page, 'Approve Acme CLI?');
    await site.app.service.services.accounts.endSessions(operator, await idOf(site.app, visitor.email));
    await button(page, 'Deny').click();
    await heading(page, 'Sign in');
    const { email } = await site.app.createAccount();
    await signIn(page, email);
    await button(page, 'My terminal shows this code').waitFor();
  },
  once,
);

test(
  'the code of a link survives a sign-in with a second factor, and a reload',
  async (site) => {
    const { account, secret } = await newEnrolledAccount(site.app);
    const { user_code: code } = await beginSignIn(site.app);
    const visitor = await site.open();
    visitor.expectStatus(401);
    const { page } = visitor;
    await visitor.goto(`/console/device#${code}`);
    await signIn(page, account.email);
    await page.getByLabel('One-time code').fill(codeAt(secret, site.app.clock.now()));
    await button(page, 'Sign in').click();
    assert.equal(await page.locator('.user-code').innerText(), code);
    await page.reload();
    assert.equal(await page.locator('.user-code').innerText(), code);
    assert.equal(
      visitor.requests.some((request) => request.includes(code)),
      false,
      'no request has the code in its URL',
    );
  },
  once,
);

test(
  'a person whose account must have a second factor sets one up, and continues with the code',
  async (site) => {
    const { app } = site;
    const { user_code: code } = await beginSignIn(app);
    const { email } = await app.createAccount();
    const visitor = await site.open();
    await signInByCookie(visitor.context, email);
    await app.service.services.accounts.requireSecondFactor(operator, await idOf(app, email), true);
    const { page } = visitor;
    await visitor.goto(`/console/device#${code}`);
    await page.getByText('Your account requires a second factor.').waitFor();
    await button(page, 'Set up an authenticator app').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').fill(goodPassword);
    await dialog.locator('[type=submit]').click();
    const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
    await dialog.getByLabel('Six-digit code').fill(codeAt(secret.replaceAll(' ', ''), app.clock.now()));
    await dialog.locator('[type=submit]').click();
    await page.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    assert.equal(await page.locator('.user-code').innerText(), code);
  },
  once,
);
