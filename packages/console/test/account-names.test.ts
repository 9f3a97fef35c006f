/** Administrators see email addresses and names in place of ids, as links and in filters; other people do not. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { insertEvents, insertKeys } from '../../server/test-kit/many-rows.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

interface Opened {
  readonly visitor: Visitor;
  readonly root: { readonly id: string; readonly email: string };
  readonly ada: { readonly id: string; readonly email: string };
  readonly serviceId: string;
}

/** An administrator, and an account with a service account. */
async function open(site: ConsoleSite): Promise<Opened> {
  const { accounts, serviceAccounts } = site.app.service.services;
  const suffix = crypto.randomUUID().slice(0, 8);
  const root = await accounts.create(operator, `root.${suffix}@example.com`, new Secret(goodPassword), 'admin');
  const ada = await site.app.createAccount(`ada.${suffix}@example.com`);
  const service = await serviceAccounts.create(operator, ada.id, { name: `nightly ${suffix}` });
  // Wide enough for all columns.
  const visitor = await site.open({ width: 1600 });
  await signInByCookie(visitor.context, root.email);
  return { visitor, root, ada, serviceId: service.id };
}

test('the audit log shows accounts by their email addresses, as links, and a deleted one as such', async (site) => {
  const { visitor, root, ada, serviceId } = await open(site);
  const { page } = visitor;
  const gone = await site.app.createAccount(`gone.${ada.email}`);
  const at = site.app.clock.now();
  const actor = `account:${root.id}`;
  await insertEvents(site.app.db, [
    { at, actor, action: 'account.disabled', accountId: ada.id, target: ada.id },
    { at, actor, action: 'service_account.manager_added', accountId: serviceId, target: `${serviceId}/${gone.id}` },
    { at, actor: 'key:4711', action: 'account.enabled', accountId: gone.id, target: '4711' },
    {
      at,
      actor: 'portal:por_1',
      action: 'account.limits_set',
      accountId: ada.id,
      details: '{"person":{"id":"u_7","name":"Ada"}}',
    },
  ]);
  await site.app.service.services.accounts.delete(operator, gone.id);
  await visitor.goto('/console/admin/audit?limit=20');
  const row = (event: string) => page.getByRole('row').filter({ hasText: event }).first();
  const disabled = row('account was disabled');
  assert.equal(await disabled.getByRole('link', { name: ada.email }).count(), 2, 'account and target');
  assert.equal(
    await disabled.getByRole('link', { name: root.email }).getAttribute('href'),
    `/console/admin/accounts/${root.id}`,
  );
  const added = row('another manager');
  await added.getByRole('link', { name: 'nightly' }).first().waitFor();
  await added.getByText(`Deleted account ${gone.id}`).waitFor();
  assert.equal(await row('account was enabled').getByText('key:4711').count(), 1);
  assert.equal(await row('u_7').getByRole('cell', { name: 'Ada (u_7) portal:por_1', exact: true }).count(), 1);
  // 20 rows with many ids: one request for all of them.
  const lookups = visitor.requests.filter((request) => request === 'GET /console/api/admin/accounts');
  assert.equal(lookups.length, 1);
});

test('filters by account accept an email address, and other texts are refused', async (site) => {
  const { visitor, root, ada } = await open(site);
  const { page } = visitor;
  const at = site.app.clock.now();
  await insertEvents(site.app.db, [
    { at, actor: `account:${root.id}`, action: 'account.disabled', accountId: ada.id, target: ada.id },
  ]);
  await insertKeys(site.app.db, ada.id, [{ id: 1 + Math.trunc(at / 7), nickname: 'of ada', createdAt: at }]);
  await visitor.goto('/console/admin/audit');
  for (const label of ['Account', 'Actor', 'Target']) {
    const field = page.locator('main').getByLabel(label, { exact: true });
    await field.fill(label === 'Actor' ? root.email : ada.email.toUpperCase());
    await field.press('Enter');
    await page.waitForURL(/%40|@/);
    await visitor.settle();
    await page.getByRole('link', { name: ada.email }).first().waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.waitForURL((url) => url.search === '');
  }
  await visitor.goto('/console/admin/keys');
  const owner = page.locator('main').getByLabel('Owner', { exact: true });
  await owner.fill('ada');
  await owner.press('Enter');
  assert.equal(new URL(page.url()).search, '', 'neither an id nor an email address');
  await owner.fill(ada.email);
  await owner.press('Enter');
  await page.getByText('1–1 of 1', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'of ada' }).waitFor();
});

test('only administrators see the names of other managers and of the creator', async (site) => {
  const { visitor, root, ada, serviceId } = await open(site);
  const { managers } = site.app.service.services;
  const eve = await site.app.createAccount(`eve.${ada.email}`);
  for (const manager of [root.id, eve.id]) await managers.add(operator, serviceId, manager);
  await visitor.goto(`/console/service-accounts/${serviceId}`);
  const table = visitor.page.getByRole('group', { name: 'Managers' });
  await table.getByRole('link', { name: eve.email, exact: true }).waitFor();
  await visitor.page.locator('dd').getByRole('link', { name: ada.email }).waitFor();
  const other = await site.open();
  await signInByCookie(other.context, eve.email);
  await other.goto(`/console/service-accounts/${serviceId}`);
  await other.page.getByText('Another account').waitFor();
  const text = await other.page.locator('main').innerText();
  assert.ok(text.includes(ada.id) && !text.includes(ada.email) && !text.includes(root.email), text);
  assert.deepEqual(
    other.requests.filter((request) => request.includes('/admin/')),
    [],
  );
});

test('a list shows its total on every page, and a bound where it has more entries', async (site) => {
  const { visitor, ada } = await open(site);
  const { page } = visitor;
  const now = site.app.clock.now();
  const first = 40_000_000 + (Number.parseInt(ada.id.slice(-4), 36) || 0) * 20_000;
  const keys = Array.from({ length: 2_318 }, (_, n) => ({ id: first + n, nickname: `key ${n}`, createdAt: now }));
  await insertKeys(site.app.db, ada.id, keys);
  const shows = (range: string) => page.locator('.pager').getByText(range, { exact: true }).waitFor();
  const path = `/console/admin/keys?owner=${encodeURIComponent(ada.email)}`;
  await visitor.goto(path);
  await shows('1–100 of 2,318');
  await page.getByRole('button', { name: 'Next' }).click();
  await shows('101–200 of 2,318');
  await page.locator('main').getByLabel('Rows per page').selectOption('20');
  await shows('1–20 of 2,318');
  await insertKeys(
    site.app.db,
    ada.id,
    Array.from({ length: 7_683 }, (_, n) => ({ id: first + 5_000 + n, nickname: `more ${n}`, createdAt: now })),
  );
  await visitor.goto(path);
  await shows('1–100 of more than 10,000');
});
