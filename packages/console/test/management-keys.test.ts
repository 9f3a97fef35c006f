/** Keys that administrators create in the console: a backend's management key, and keys of other persons. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { codeOf, newEnrolledAdministrator } from '../../server/test-kit/management-keys.ts';
import type { Enrolled } from '../../server/test-kit/authenticator.ts';
import { bearer, goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { focused, type Visitor } from './kit/visitor.ts';

const test = consoleTests();

/** An administrator with an authenticator app, in the console. */
async function openEnrolled(site: ConsoleSite, path: string): Promise<{ visitor: Visitor; administrator: Enrolled }> {
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  const administrator = await newEnrolledAdministrator(site.app, email);
  const visitor = await site.open();
  await signInByCookie(visitor.context, email, goodPassword, codeOf(site.app, administrator));
  // Another code than that of the sign-in.
  site.app.clock.advance({ seconds: 30 });
  await visitor.goto(path);
  return { visitor, administrator };
}

test('an administrator creates a backend’s management key, sees it once, and learns of its first use', async (site) => {
  const { visitor, administrator } = await openEnrolled(site, '/console/admin/accounts');
  const { page } = visitor;
  await page.getByRole('button', { name: 'Create management key' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await focused(page).getAttribute('name'), 'name');
  await dialog.getByLabel('Name of the backend').fill('shop');
  await dialog.getByLabel('IP ranges').fill('127.0.0.1\n::1');
  await dialog.getByLabel('Current password').fill('wrong wombat orbit 42');
  await dialog.getByLabel('One-time code').fill(codeOf(site.app, administrator));
  visitor.expectStatus(403);
  const submit = dialog.locator('[type=submit]');
  await submit.click();
  await dialog.locator('.field-error', { hasText: 'The password is wrong.' }).waitFor();
  await dialog.getByLabel('Current password').fill(goodPassword);
  await submit.click();
  const secret = dialog.getByLabel('Secret', { exact: true });
  await secret.waitFor();
  const key = await secret.inputValue();
  await dialog.getByText('Waiting for the first use…').waitFor();

  const headers = bearer(key);
  const made = await site.app.call('POST', '/auth/service-accounts', { headers, json: { name: 'customer' } });
  assert.equal(made.status, 201, made.text);
  await site.app.service.services.uses.flush();
  await dialog.getByText('The key has been used.').waitFor();

  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'shop', exact: true }).first().waitFor();
  assert.equal((await page.content()).includes(key), false);
});

test('an administrator without a second factor is led to the page that sets one up', async (site) => {
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  await site.app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
  const visitor = await site.open();
  await signInByCookie(visitor.context, email);
  await visitor.goto('/console/admin/accounts');
  const { page } = visitor;
  await page.getByRole('button', { name: 'Create management key' }).click();
  await page.getByRole('dialog').getByRole('link', { name: 'Set up a second factor' }).click();
  await page.getByRole('heading', { name: 'Security', level: 1 }).waitFor();
});

test('an administrator creates a key of a person, who gets a mail, and a further management key', async (site) => {
  const { id, email } = await site.app.createAccount(`ada.${crypto.randomUUID().slice(0, 8)}@example.com`);
  const { visitor, administrator } = await openEnrolled(site, `/console/admin/accounts/${id}`);
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByLabel('Nickname').fill('report');
  await dialog.getByLabel('Current password').fill(goodPassword);
  await dialog.getByLabel('One-time code').fill(codeOf(site.app, administrator));
  await dialog.locator('[type=submit]').click();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('link', { name: 'report', exact: true }).first().waitFor();
  const { text } = await site.mailbox.next({ to: email, subject: /^An administrator/ });
  assert.ok(text.includes(administrator.account.email), text);

  const { serviceAccounts, apiKeys } = site.app.service.services;
  const { id: serviceId } = await serviceAccounts.create(operator, id, { name: 'shop' });
  await visitor.goto(`/console/admin/accounts/${serviceId}`);
  await page.getByRole('button', { name: 'Create management key' }).click();
  await dialog.getByLabel('Nickname').fill('shop, from March');
  await dialog.getByLabel('IP ranges').fill('203.0.113.0/24');
  await dialog.getByLabel('Current password').fill(goodPassword);
  site.app.clock.advance({ seconds: 30 });
  await dialog.getByLabel('One-time code').fill(codeOf(site.app, administrator));
  await dialog.locator('[type=submit]').click();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('link', { name: 'shop, from March' }).first().waitFor();
  const [key] = await apiKeys.list(serviceId);
  assert.deepEqual([key?.nickname, key?.scopes], ['shop, from March', ['keyreeve:keys']]);
});
