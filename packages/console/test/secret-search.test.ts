/** Secrets that are typed or pasted into the search of keys: they never become part of a URL. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { hasSecret, secretIn } from '../src/secret-text.ts';
import { test as nodeTest } from 'node:test';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

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
