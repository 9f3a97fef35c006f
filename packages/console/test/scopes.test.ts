/** Scopes of keys are chosen from the scope catalogue; people type names only while it is empty. */
import assert from 'node:assert/strict';
import { operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

const declare = async (site: ConsoleSite, name: string): Promise<void> => {
  const { scopeCatalogue } = site.app.service.services;
  await scopeCatalogue.set(operator, name, { description: `May use ${name}`, entitled: false });
};

/** Creates a key by the dialog of the current page. @returns its scopes */
async function create({ page }: Visitor, site: ConsoleSite, accountId: string, nickname: string) {
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('I have stored it').waitFor();
  const keys = await site.app.service.services.apiKeys.list(accountId);
  return keys.find((key) => key.nickname === nickname)?.scopes;
}

test(
  'a person types scopes while the catalogue is empty, and chooses them afterwards, also for a change',
  async (site) => {
    const visitor = await site.openNewKey();
    const { page } = visitor;
    const accountId = await page.evaluate(async () => {
      const response = await fetch('/console/api/auth/account', { headers: { 'x-keyreeve-console': 'user' } });
      return ((await response.json()) as { id: string }).id;
    });
    await page.getByRole('textbox', { name: 'Scopes' }).fill('orders:read free:scope');
    assert.deepEqual(await create(visitor, site, accountId, 'billing worker'), ['orders:read', 'free:scope']);
    await declare(site, 'orders:read');
    await declare(site, 'orders:write');
    await visitor.goto('/console/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const scopes = page.getByRole('group', { name: 'Scopes' });
    await scopes.getByText('May use orders:write').waitFor();
    assert.equal(await scopes.getByRole('textbox').count(), 0);
    assert.equal(await scopes.getByRole('checkbox').count(), 2, 'no reserved scope for a person');
    await scopes.getByLabel('orders:write').check();
    await page.getByLabel('Nickname').fill('second');
    assert.deepEqual(await create(visitor, site, accountId, 'second'), ['orders:write']);
    await visitor.goto('/console/keys');
    await page.getByRole('link', { name: 'billing worker' }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    assert.ok(await scopes.getByLabel('free:scope').isChecked(), 'the key keeps a scope outside of the catalogue');
    await scopes.getByLabel('orders:write').check();
    await scopes.getByLabel('orders:read').uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const [changed] = (await site.app.service.services.apiKeys.list(accountId)).filter(
      ({ nickname }) => nickname === 'billing worker',
    );
    assert.deepEqual(changed?.scopes.toSorted(), ['free:scope', 'orders:write']);
  },
  { isAlone: true },
);

test(
  'an administrator can choose the reserved scope of services for an own key, not for a service account',
  async (site) => {
    await declare(site, 'orders:read');
    const visitor = await site.open();
    await signInByCookie(visitor.context, 'root@example.com');
    const { page } = visitor;
    const { id } = await site.app.service.services.accounts.find('root@example.com');
    await visitor.goto('/console/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const scopes = page.getByRole('group', { name: 'Scopes' });
    await scopes.getByLabel('keyreeve:verify').check();
    await page.getByLabel('Nickname').fill('gateway');
    assert.deepEqual(await create(visitor, site, id, 'gateway'), ['keyreeve:verify']);
    const service = await site.app.service.services.serviceAccounts.create(operator, id, { name: 'nightly' });
    await visitor.goto(`/console/service-accounts/${service.id}`);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await scopes.getByLabel('orders:read').waitFor();
    assert.equal(await scopes.getByRole('checkbox').count(), 1);
  },
  { isAlone: true },
);

test(
  'without declared scopes, nothing can be chosen or typed if keys may only have declared ones',
  async (site) => {
    const visitor = await site.openNewKey();
    await visitor.page.getByText('An administrator has declared no scopes yet.').waitFor();
    assert.equal(await visitor.page.getByRole('textbox', { name: 'Scopes' }).count(), 0);
  },
  { isAlone: true, environment: { KEYREEVE_SCOPES: 'catalogue' } },
);
