/** What an administrator does with programs, and what becomes of the keys that they have made. */
import assert from 'node:assert/strict';
import { bearer } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import { enterCode } from './kit/device.ts';

const test = consoleTests();

test(
  'an administrator declares a program and narrows it, its keys show its name, and end with it',
  async (site) => {
    const { deviceRequests } = site.app.service.services;
    const visitor = await site.open();
    await signInByCookie(visitor.context, 'root@example.com');
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    const closed = (): Promise<void> => dialog.waitFor({ state: 'detached' });

    await visitor.goto('/console/admin/programs');
    await page.getByRole('button', { name: 'Add program' }).click();
    await dialog.getByLabel('ID').fill('acme-cli');
    await dialog.getByLabel('Name').fill('Acme CLI');
    await dialog.getByRole('textbox', { name: 'Scopes' }).fill('orders:read orders:write');
    await dialog.getByLabel('Longest lifetime of its keys').selectOption({ label: '30 days' });
    await dialog.getByRole('button', { name: 'Add program' }).click();
    await closed();
    await page.getByRole('cell', { name: '0 keys' }).waitFor();
    // Another one with the same id.
    visitor.expectStatus(409);
    await page.getByRole('button', { name: 'Add program' }).click();
    await dialog.getByLabel('ID').fill('acme-cli');
    await dialog.getByLabel('Name').fill('Another');
    await dialog.getByRole('button', { name: 'Add program' }).click();
    await dialog.locator('.field-error', { hasText: 'A program with this ID exists.' }).waitFor();
    await page.keyboard.press('Escape');
    await closed();

    await page.getByRole('button', { name: 'Actions for Acme CLI' }).click();
    await page.getByRole('button', { name: 'Change program' }).click();
    await dialog.getByRole('button', { name: 'Remove the scope orders:write' }).click();
    await dialog.getByLabel('Longest lifetime of its keys').selectOption({ label: '1 day' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await closed();
    await page.getByRole('cell', { name: '1 day' }).waitFor();

    const { user_code: code, device_code: deviceCode } = await deviceRequests.begin('acme-cli', '', '127.0.0.1');
    await visitor.goto('/console/device');
    await enterCode(page, code);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('heading', { name: 'Go back to your terminal' }).waitFor();
    const poll = { clientId: 'acme-cli', deviceCode, clientIp: '127.0.0.1' };
    const { secret, scopes, expiresInSeconds } = await deviceRequests.poll(poll);
    assert.deepEqual([scopes, expiresInSeconds], [['orders:read'], 86_400]);

    for (const list of ['/console/keys', '/console/admin/keys']) {
      await visitor.goto(list);
      await page.getByRole('rowheader').filter({ hasText: 'Made by Acme CLI' }).waitFor();
    }
    await page.getByRole('button', { name: 'Actions for Acme CLI' }).click();
    await page.getByRole('button', { name: 'Sign out this device' }).waitFor();

    await visitor.goto('/console/admin/programs');
    await page.getByRole('button', { name: 'Actions for Acme CLI' }).click();
    await page.getByRole('button', { name: 'Remove program' }).click();
    await dialog.getByText('It has made 1 API key.').waitFor();
    await dialog.locator('[type=submit]').click();
    await closed();
    const status = async (): Promise<number> =>
      (await site.app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status;
    assert.equal(await status(), 200);

    // It stays in the list until its keys are deleted.
    const row = page.getByRole('row').filter({ hasText: 'acme-cli' });
    await row.filter({ hasText: 'Removed' }).filter({ hasText: '1 key' }).waitFor();
    await page.getByRole('button', { name: 'Actions for acme-cli' }).click();
    assert.equal(await page.getByRole('button', { name: 'Change program' }).isVisible(), false);
    await page.getByRole('button', { name: 'Delete API keys' }).click();
    await dialog.getByText('It has made 1 API key.').waitFor();
    await dialog.getByRole('button', { name: 'Delete API keys' }).click();
    await closed();
    await page.getByText('No programs yet').waitFor();
    assert.equal(await status(), 401);

    await page.getByRole('button', { name: 'Add program' }).click();
    await dialog.getByLabel('ID').fill('acme-cli');
    await dialog.getByLabel('Name').fill('Acme CLI');
    await dialog.getByRole('button', { name: 'Add program' }).click();
    await closed();
    await page.getByRole('button', { name: 'Actions for Acme CLI' }).click();
    await page.getByRole('button', { name: 'Remove program' }).click();
    await dialog.getByText('It has no API keys.').waitFor();
    await dialog.locator('[type=submit]').click();
    await closed();
    await page.getByText('No programs yet').waitFor();
  },
  { isAlone: true, databases: ['sqlite'] },
);
