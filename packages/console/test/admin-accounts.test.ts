/** The pages about accounts: each action of an administrator has its effect at once, and nothing else. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { basic, bearer, goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

/** An administrator on the page of an account that has one key. */
async function openAccount(site: ConsoleSite) {
  const { services } = site.app.service;
  const suffix = crypto.randomUUID().slice(0, 8);
  await services.accounts.create(operator, `root.${suffix}@example.com`, new Secret(goodPassword), 'admin');
  const { id, email } = await site.app.createAccount(`ada.${suffix}@example.com`);
  const { secret, id: keyId } = await services.apiKeys.create(operator, id, { nickname: 'billing worker' });
  const visitor = await site.open();
  await signInByCookie(visitor.context, `root.${suffix}@example.com`);
  await visitor.goto(`/console/admin/accounts/${id}`);
  /** Status of a verification with the key. */
  const verify = async (): Promise<number> =>
    (await site.app.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status;
  return { id, email, keyId, visitor, verify };
}

/** Chooses an action of the page's menu and submits its dialog. */
async function act({ page }: Visitor, label: string, fill: () => Promise<unknown> = async () => undefined) {
  await page.getByRole('button', { name: 'Actions', exact: true }).click();
  await page.locator('.menu:popover-open').getByRole('button', { name: label, exact: true }).click();
  await fill();
  const submit = page.getByRole('dialog').locator('[type=submit]');
  await submit.click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('a disabled account’s key is rejected at once, and accepted again after the account is enabled', async (site) => {
  const { visitor, verify } = await openAccount(site);
  assert.equal(await verify(), 200);
  await act(visitor, 'Disable');
  assert.equal(await verify(), 401);
  await visitor.page.getByText('This account is disabled').waitFor();
  await act(visitor, 'Enable');
  assert.equal(await verify(), 200);
});

test('an administrator gives a role, requires a second factor and sets limits, and the page shows them', async (site) => {
  const { visitor, id } = await openAccount(site);
  const { page } = visitor;
  await act(visitor, 'Change the role', () => page.getByLabel('Role', { exact: true }).selectOption('admin'));
  await page.locator('dd', { hasText: 'Administrator' }).waitFor();
  await act(visitor, 'Require a second factor');
  await page.getByText('none (required)').waitFor();
  await page.getByRole('button', { name: 'Change limits' }).click();
  await page.getByRole('group', { name: 'Rate limit' }).getByLabel('Requests').fill('600');
  await page.getByRole('dialog').locator('[type=submit]').click();
  await page.getByText('600 requests in 60 s, 600 at once').waitFor();
  const { role, requiresSecondFactor, limits } = await site.app.service.services.directory.read(id);
  assert.deepEqual(
    { role, requiresSecondFactor, limits },
    {
      role: 'admin',
      requiresSecondFactor: true,
      limits: { rate: { limit: 600, windowSeconds: 60, burst: 600 }, quota: null },
    },
  );
});

test('an account is deleted only after its email address is typed, and its key is rejected at once', async (site) => {
  const { visitor, verify, email } = await openAccount(site);
  const { page } = visitor;
  await page.getByRole('button', { name: 'Actions', exact: true }).click();
  await page.getByRole('button', { name: 'Delete the account', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('another@example.com');
  await dialog.locator('[type=submit]').click();
  await dialog.locator('.field-error', { hasText: 'This is not its name.' }).waitFor();
  assert.equal(await verify(), 200);
  await dialog.getByRole('textbox').fill(email);
  await dialog.locator('[type=submit]').click();
  await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
  assert.equal(await verify(), 401);
});

test('an administrator restricts a key of an account without access to its nickname, scopes and secret', async (site) => {
  const { visitor, email, keyId, verify } = await openAccount(site);
  const { page } = visitor;
  await page.getByRole('link', { name: 'billing worker' }).click();
  await page.getByRole('heading', { name: 'billing worker', level: 1 }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Rotate secret' }).count(), 0);
  await page.getByRole('button', { name: 'Edit key' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Nickname').count(), 0);
  assert.equal(await dialog.getByLabel('Scopes').count(), 0);
  await dialog.getByText('IP ranges and limits').click();
  await dialog.getByLabel('IP ranges').fill('203.0.113.0/24');
  await dialog.locator('[type=submit]').click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await verify(), 403);
  const { json: tokens } = await site.app.call('POST', '/auth/token', { headers: basic(email, goodPassword) });
  const { accessToken } = tokens as { accessToken: string };
  const { json } = await site.app.call('GET', `/auth/api-keys/${keyId}`, { headers: bearer(accessToken) });
  const { nickname, addresses } = json as { nickname: string; addresses: string[] };
  assert.deepEqual([nickname, addresses], ['billing worker', ['203.0.113.0/24']]);
});

test('an invited person receives a mail, and the console shows the account', async (site) => {
  const { visitor } = await openAccount(site);
  const { page } = visitor;
  const email = `grace.${crypto.randomUUID().slice(0, 8)}@example.com`;
  await visitor.goto('/console/admin/accounts');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog').getByLabel('Email address').fill(email);
  await page.getByRole('dialog').locator('[type=submit]').click();
  await page.getByRole('heading', { name: email }).waitFor();
  await page.getByText('Invited', { exact: true }).waitFor();
  const mail = await site.mailbox.next({ to: email });
  assert.match(mail.text ?? '', /https?:\/\//);
});
