/** With `KEYREEVE_CONSOLE_SERVICE_ACCOUNTS=off`, only administrators see service accounts in the console. The API is the same. */
import assert from 'node:assert/strict';
import { bearer, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';

const test = consoleTests({ environment: { KEYREEVE_CONSOLE_SERVICE_ACCOUNTS: 'off' } });

test('a person sees no service accounts in menus, pages and texts, and an administrator does', async (site) => {
  const { accounts, serviceAccounts } = site.app.service.services;
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  const { id } = await accounts.find(visitor.email);
  const service = await serviceAccounts.create(operator, id, { name: 'nightly' });
  await visitor.goto('/console/account');
  const navigation = page.getByRole('navigation', { name: 'Menu' }).first();
  await navigation.getByRole('link', { name: 'Security' }).waitFor();
  assert.equal(await navigation.getByRole('link', { name: 'Service accounts' }).count(), 0);
  assert.ok(!(await page.locator('main').innerText()).includes('manager of a service account'));
  await page.getByRole('button', { name: 'Delete account…' }).click();
  await page.getByRole('dialog').getByText('Your sessions end').waitFor();
  assert.ok(!(await page.getByRole('dialog').innerText()).includes('ervice account'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+K');
  await page.getByRole('dialog').getByRole('combobox').fill('nightly');
  await page.getByRole('status').filter({ hasText: '0 entries' }).waitFor();
  for (const path of ['', `/${service.id}`, `/${service.id}/keys/1`]) {
    await visitor.goto(`/console/service-accounts${path}`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  }
  assert.deepEqual(
    visitor.requests.filter((request) => request.includes('service-accounts')).filter((one) => one.includes('/api/')),
    [],
  );
  const signedIn = await site.app.signIn();
  const headers = bearer(signedIn.accessToken);
  const created = await site.app.call('POST', '/auth/service-accounts', { headers, json: { name: 'by the API' } });
  assert.equal(created.status, 201, created.text);
  const administrator = await site.open();
  await signInByCookie(administrator.context, 'root@example.com');
  await administrator.goto('/console/service-accounts');
  await administrator.page.getByRole('navigation', { name: 'Menu' }).first().getByText('Service accounts').waitFor();
  await administrator.page.getByRole('button', { name: 'Create service account' }).first().waitFor();
});
