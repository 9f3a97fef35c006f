/** The command palette: opened by keys, never from a field; used by keyboard alone; finds what the person may open. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { until } from '../../server/test-kit/until.ts';
import { assertAccessible } from './accessibility.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';

const test = consoleTests();

/** A person with one key, on the list of keys. */
async function openWithKey(site: ConsoleSite) {
  const visitor = await site.openSignedIn();
  const { apiKeys, accounts } = site.app.service.services;
  const { id } = await accounts.find(visitor.email);
  const key = await apiKeys.create(operator, id, { nickname: 'billing worker' });
  await visitor.goto('/console/keys');
  const { page } = visitor;
  const field = page.getByRole('combobox', { name: 'Page or API key' });
  /** The label of the selected entry. */
  const selected = () => page.locator('.palette-list').getByRole('option', { selected: true }).innerText();
  return { visitor, page, key, field, selected };
}

test('Ctrl-K and / open the palette; the arrow keys, Enter and Escape do the rest, and the focus returns', async (site) => {
  const { visitor, page, key, field, selected } = await openWithKey(site);
  const opener = page.getByRole('button', { name: 'Account menu' });
  await opener.focus();
  await page.keyboard.press('ControlOrMeta+K');
  await field.waitFor();
  assert.equal(await selected(), 'API keys');
  await assertAccessible(page, 'the palette with pages');
  const active = await field.getAttribute('aria-activedescendant');
  assert.equal(await page.locator('.palette-list').getByRole('option', { selected: true }).getAttribute('id'), active);
  await page.keyboard.press('ArrowUp');
  assert.equal(await selected(), 'Account', 'the list has no end');
  await page.keyboard.press('ArrowDown');
  assert.equal(await selected(), 'API keys');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  assert.ok(await opener.evaluate((element) => element.matches(':focus')));
  await page.keyboard.press('/');
  await field.waitFor();
  assert.equal(await field.inputValue(), '', 'the key is not typed');
  await page.keyboard.type('secur');
  await page.locator('.palette-list').getByRole('option', { name: 'API keys' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Security', level: 1 }).waitFor();
  await field.waitFor({ state: 'detached' });
  assert.ok(await page.getByRole('heading', { level: 1 }).evaluate((element) => element.matches(':focus')));
  await page.keyboard.press('/');
  await field.fill('BILLING');
  await page.locator('.palette-list').getByRole('option', { name: 'billing worker' }).waitFor();
  await page.getByRole('status').filter({ hasText: '1 entry' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/console/keys/${key.id}`);
  await page.getByRole('heading', { name: 'billing worker' }).waitFor();
  // The last characters of the hint, as the list of keys shows them.
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await field.fill(key.hint ?? '');
  await page.locator('.palette-list').getByRole('option', { name: 'billing worker' }).click();
  await field.waitFor({ state: 'detached' });
  assert.deepEqual(
    visitor.requests.filter((request) => request.includes('/admin/')),
    [],
  );
});

test('neither key opens the palette in another dialog, / not in a field, and / can be turned off', async (site) => {
  const { page, field } = await openWithKey(site);
  const search = page.getByRole('searchbox');
  await search.focus();
  await page.keyboard.press('/');
  assert.equal(await search.inputValue(), '/');
  await search.fill('');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await dialog.getByRole('button', { name: 'Close the dialog' }).focus();
  for (const key of ['/', 'ControlOrMeta+K']) await page.keyboard.press(key);
  assert.equal(await page.getByRole('dialog').count(), 1);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await search.focus();
  await page.keyboard.press('ControlOrMeta+K');
  await field.waitFor();
  await page.getByLabel('The key / opens this search').uncheck();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1 }).focus();
  await page.keyboard.press('/');
  assert.equal(await field.count(), 0);
  assert.equal(
    await page.getByRole('button', { name: 'Search', exact: true }).getAttribute('aria-keyshortcuts'),
    'Control+K',
  );
});

test('a typed secret is sent nowhere', async (site) => {
  const { page, key, field } = await openWithKey(site);
  await page.keyboard.press('/');
  await field.waitFor();
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData()}`));
  await field.fill(key.secret.reveal());
  await page.getByText('secret', { exact: false }).and(page.getByRole('status')).waitFor();
  assert.equal(await page.locator('.palette-list').getByRole('option').count(), 0);
  await assertAccessible(page, 'the palette without results');
  await field.fill('acc');
  await page.locator('.palette-list').getByRole('option', { name: 'Account', exact: true }).waitFor();
  await until('the next text is searched', () => sent.some((request) => request.includes('search=acc')));
  assert.ok(!sent.some((request) => request.includes(key.secret.reveal().slice(4, 20))));
});

test('an administrator finds accounts by email address and id, keys of others, and pages of administrators', async (site) => {
  const { accounts, apiKeys } = site.app.service.services;
  const suffix = crypto.randomUUID().slice(0, 8);
  const root = await accounts.create(operator, `root.${suffix}@example.com`, new Secret(goodPassword), 'admin');
  const ada = await site.app.createAccount(`ada.${suffix}@example.com`);
  const key = await apiKeys.create(operator, ada.id, { nickname: `nightly ${suffix}` });
  const visitor = await site.open();
  await signInByCookie(visitor.context, root.email);
  await visitor.goto('/console/keys');
  const { page } = visitor;
  const openWith = async (typed: string, option: string, path: string): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+K');
    await page.getByRole('dialog').getByRole('combobox').fill(typed);
    const entry = page.locator('.palette-list').getByRole('option').filter({ hasText: option });
    await entry.waitFor();
    await assertAccessible(page, `the palette with results for ${typed}`);
    await entry.click();
    await page.waitForURL(`**${path}`);
    await visitor.settle();
  };
  await openWith('audit', 'Audit log', '/console/admin/audit');
  await openWith(`ADA.${suffix}`, ada.email, `/console/admin/accounts/${ada.id}`);
  await openWith(ada.id, ada.email, `/console/admin/accounts/${ada.id}`);
  await openWith(`nightly ${suffix}`, ada.email, `/console/admin/accounts/${ada.id}/keys/${key.id}`);
  for (let count = 0; count < 6; count++) await site.app.createAccount(`many.${count}.${suffix}@example.com`);
  await openWith(`many`, 'Show all', '/console/admin/accounts?search=many');
  assert.ok((await page.locator('tbody tr').count()) >= 6);
});
