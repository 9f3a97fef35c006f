/**
 * Secrets in the browser: one is shown once, and nothing has it after its dialog is closed; one that is typed into the search of
 * keys never becomes part of a URL.
 */
import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { bearer, goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { until } from '../../server/test-kit/until.ts';
import { hasSecret, secretIn } from '../src/secret-text.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import { placesWith } from './kit/traces.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

test('after the dialogs of a new and a rotated key are closed, nothing in the browser has their secrets', async (site) => {
  const { page } = await site.openNewKey();
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
  const keyPage = page.url();
  await page.goBack();
  await until('the browser has gone back', () => page.url() !== keyPage);
  // The step waits until the person has closed the dialog.
  assert.equal(await readSecret(), rotated);
  await close();
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
  for (const secret of [created, rotated]) {
    await assertGone(secret);
    assert.equal((await site.app.call('GET', '/auth/forward', { headers: bearer(secret) })).status, 200);
  }
  await page.goForward();
  await page.getByRole('heading', { name: 'billing worker', level: 1 }).waitFor();
  for (const secret of [created, rotated]) await assertGone(secret);
});

test('Escape does not close the dialog of a secret that was not stored', async (site) => {
  const { page } = await site.openNewKey();
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
  const { page } = await site.openNewKey();
  const release = Promise.withResolvers<void>();
  await page.route('**/auth/api-keys', async (route) => {
    await release.promise;
    await route.continue();
  });
  const dialog = page.getByRole('dialog');
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

/** @returns the URLs of all requests from now on, and those of the page */
function recordUrls({ page }: Visitor): () => string {
  const urls: string[] = [];
  page.on('request', (request) => void urls.push(request.url()));
  page.on('framenavigated', (frame) => void urls.push(frame.url()));
  return () => [...urls, page.url()].join('\n');
}

nodeTest('a word of random characters is recognized as a secret, and names and hints are not', () => {
  const secret = 'krv_4nV7wQ2bXr9LmT6yPz3KdH8sJc5GfA1eR0uYiOqZ';
  for (const [text, found] of [
    [secret, secret],
    [` ${secret}\n`, secret],
    [`Authorization: Bearer ${secret}`, secret],
    [`{"key":"${secret}"}`, secret],
    ['9f86d081884c7d659a2feaa0c55ad015', '9f86d081884c7d659a2feaa0c55ad015'],
    ['mfrggzdfmztwq2lknnwg23tpobyxe43u', 'mfrggzdfmztwq2lknnwg23tpobyxe43u'],
  ] as const)
    assert.equal(secretIn(text), found, text);
  const names = ['', 'billing worker', 'krv_…x7Qa', 'billing-worker-of-production-europe-west-1', 'W'.repeat(64)];
  for (const text of names) assert.equal(hasSecret(text), false, text);
});

test('a secret in the search of all keys opens the search by secret, and no URL has it', async (site) => {
  const { services } = site.app.service;
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  await services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
  const owner = await site.app.createAccount();
  const { secret } = await services.apiKeys.create(operator, owner.id, { nickname: 'billing worker' });
  const visitor = await site.open();
  await signInByCookie(visitor.context, email);
  const urls = recordUrls(visitor);
  const { page } = visitor;
  await visitor.goto('/console/admin/keys');
  await page.getByRole('searchbox').fill(`Bearer ${secret.reveal()}`);
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Secret', { exact: true }).inputValue(), secret.reveal());
  assert.equal(await page.getByRole('searchbox').inputValue(), '');
  await dialog.locator('[type=submit]').click();
  await dialog.getByText(owner.email).waitFor();
  await dialog.getByRole('link', { name: 'billing worker' }).click();
  await page.getByRole('heading', { level: 1, name: 'billing worker' }).waitFor();
  assert.ok(!urls().includes(secret.reveal().slice(-20)), 'no URL has the secret');
});

test('a secret in the search of the own keys is not searched for, and no URL has it', async (site) => {
  const visitor = await site.openSignedIn();
  const { id } = await site.app.service.services.accounts.find(visitor.email);
  const { secret } = await site.app.service.services.apiKeys.create(operator, id, { nickname: 'billing worker' });
  const urls = recordUrls(visitor);
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('searchbox').fill(secret.reveal());
  await page.getByText('A secret is not searched for').waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), '');
  await page.getByRole('searchbox').fill('no such key');
  await page.getByText('No entry matches the filters.').first().waitFor();
  assert.equal(await page.getByText('A secret is not searched for').count(), 0);
  assert.ok(!urls().includes(secret.reveal().slice(-20)), 'no URL has the secret');
});
