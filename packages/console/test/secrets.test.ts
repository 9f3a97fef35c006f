/** A secret is shown once: nothing in the browser has it after its dialog is closed. */
import assert from 'node:assert/strict';
import { bearer } from '../../server/test-kit/new-app.ts';
import { consoleTests } from './kit/console-site.ts';
import { placesWith } from './kit/traces.ts';

const test = consoleTests();

test('after the dialogs of a new and a rotated key are closed, nothing in the browser has their secrets', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Nickname').fill('billing worker');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();

  const readSecret = async (): Promise<string> => {
    const secret = await page.getByRole('dialog').getByLabel('Secret', { exact: true }).inputValue();
    assert.match(secret, /^krv_\w{40,}$/);
    assert.ok((await placesWith(page, secret)).includes('values'), 'the search finds a secret that is shown');
    return secret;
  };
  const close = async (): Promise<void> => {
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const assertGone = async (secret: string): Promise<void> => {
    // The random part, so that a part of it would be found too.
    assert.deepEqual(await placesWith(page, secret.slice(4, 24)), []);
    assert.deepEqual(await placesWith(page, secret.slice(-20)), []);
  };
  const created = await readSecret();
  await close();
  await assertGone(created);

  await page.getByRole('link', { name: 'billing worker' }).click();
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('heading', { name: 'The new secret' }).waitFor();
  const rotated = await readSecret();
  await close();
  for (const secret of [created, rotated]) {
    await assertGone(secret);
    assert.equal((await site.app.call('GET', '/auth/forward', { headers: bearer(secret) })).status, 200);
  }
  await page.goBack();
  for (const secret of [created, rotated]) await assertGone(secret);
});

test('Escape does not close the dialog of a secret that was not stored', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Nickname').fill('billing worker');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('I have stored it').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Close without storing it?').waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await page.getByRole('dialog').getByLabel('Secret', { exact: true }).isVisible());
  await page.getByRole('button', { name: 'Close without storing' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a dialog stays open until the response to its request has arrived', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const release = Promise.withResolvers<void>();
  await page.route('**/auth/api-keys', async (route) => {
    await release.promise;
    await route.continue();
  });
  const dialog = page.getByRole('dialog');
  await page.getByLabel('Nickname').fill('billing worker');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.locator('[type=submit][aria-busy=true]').waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Close the dialog' }).click();
  // The button is marked as disabled, which Playwright would wait for.
  await dialog.getByRole('button', { name: 'Cancel' }).dispatchEvent('click');
  release.resolve();
  const secret = dialog.getByLabel('Secret', { exact: true });
  await secret.waitFor();
  assert.match(await secret.inputValue(), /^krv_/);
});
