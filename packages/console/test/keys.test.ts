/** The pages of keys: what a click does on the server, and lists of any size. */
import assert from 'node:assert/strict';
import { insertKeys } from '../../server/test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests } from './kit/console-site.ts';

const test = consoleTests({ environment: { KEYREEVE_KEYS_PER_ACCOUNT_MAX: '20000' } });

test('a double click creates one key', async (site) => {
  const visitor = await site.openSignedIn();
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Nickname').fill('billing worker');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).dblclick();
  await page.getByLabel('I have stored it').waitFor();
  const creations = visitor.requests.filter((request) => request === 'POST /console/api/auth/api-keys');
  assert.equal(creations.length, 1);
});

test('the first page of 10,000 keys has at most 100 rows', async (site) => {
  const visitor = await site.openSignedIn();
  const { id } = await site.app.service.services.accounts.find(visitor.email);
  const now = site.app.clock.now();
  const nicknameOf = (n: number): string => `key ${String(n).padStart(5, '0')}`;
  await insertKeys(
    site.app.db,
    id,
    Array.from({ length: 10_000 }, (_, n) => ({ id: 7_000_000 + n, nickname: nicknameOf(n), createdAt: now - n })),
  );
  await visitor.goto('/console/keys');
  const { page } = visitor;
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  assert.equal(await rows.count(), 100);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('101–200 and more').first().waitFor();
  assert.equal(await rows.count(), 100);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('1–100 and more', { exact: true }).first().waitFor();
  await page.getByRole('searchbox').fill(nicknameOf(9_999));
  await page.getByRole('link', { name: nicknameOf(9_999) }).waitFor();
  await rows.nth(1).waitFor({ state: 'detached' });
  await page.getByRole('searchbox').fill('no such key');
  await page.getByText('No entry matches the filters.').first().waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await rows.nth(99).waitFor();
});

test(
  'a key that is deleted in the console of one instance is rejected by another instance immediately',
  async (site) => {
    await using other = await newApp({ place: site.app.place });
    const visitor = await site.openSignedIn();
    const { id } = await site.app.service.services.accounts.find(visitor.email);
    const { secret } = await site.app.service.services.apiKeys.create(operator, id, { nickname: 'billing worker' });
    const forward = async (): Promise<number> =>
      (await other.call('GET', '/auth/forward', { headers: bearer(secret.reveal()) })).status;
    assert.equal(await forward(), 200);
    const { page } = visitor;
    await visitor.goto('/console/keys');
    await page.getByRole('link', { name: 'billing worker' }).click();
    await page.getByRole('button', { name: 'Delete key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await visitor.settle();
    // Asked for once the last use has been recorded, which happens some seconds after it.
    const nickname = dialog.getByLabel('Type the nickname to confirm');
    if (await nickname.isVisible()) await nickname.fill('billing worker');
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await dialog.getByRole('button', { name: 'Delete key' }).click();
    assert.equal((await deleted).status(), 200);
    assert.equal(await forward(), 401);
    await page
      .getByText(/Rejected on every instance since \d\d:\d\d:\d\d\.\d{3} UTC/)
      .first()
      .waitFor();
  },
  { isAlone: true, databases: ['postgres'] },
);
