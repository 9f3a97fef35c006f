/** The log of mail in the console. */
import assert from 'node:assert/strict';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { until } from '../../server/test-kit/until.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import { hostileTexts } from './kit/seed.ts';

const test = consoleTests();

test('an administrator finds the mail to a person, with its purpose and result', async (site) => {
  const { accounts, administration, mailLog } = site.app.service.services;
  const suffix = crypto.randomUUID().slice(0, 8);
  const administrator = `root.${suffix}@example.com`;
  await accounts.create(operator, administrator, new Secret(goodPassword), 'admin');
  const email = `grace.${suffix}@example.com`;
  const id = await administration.invite(operator, email, 'user');
  await site.mailbox.next({ to: email });
  await until('the mail is in the log', async () => (await mailLog.page({ to: email })).mails.length === 1);
  const failed = {
    id: `msg_${suffix}`,
    to: email,
    template: 'password_changed',
    createdAt: site.app.clock.now() + 1,
  } as const;
  await site.app.db.transaction((tx) => mailLog.recordTx(tx, failed, hostileTexts.markup));

  const visitor = await site.open();
  await signInByCookie(visitor.context, administrator);
  await visitor.goto('/console/admin/mail');
  const { page } = visitor;
  await page.getByLabel('Recipient').fill(email);
  await page.getByLabel('Recipient').press('Enter');
  await until('only that mail is listed', async () => (await page.locator('main tbody tr').count()) === 2);
  const [first, second] = [page.locator('main tbody tr').first(), page.locator('main tbody tr').last()];
  await first.getByText('Password changed', { exact: true }).waitFor();
  await first.getByText('Not delivered', { exact: true }).waitFor();
  await first.getByText(hostileTexts.markup, { exact: true }).waitFor();
  await second.getByText('Invitation', { exact: true }).waitFor();
  await second.getByText('Delivered', { exact: true }).waitFor();
  await page.getByLabel('Purpose').selectOption('invitation');
  await until('the other mail is left out', async () => (await page.locator('main tbody tr').count()) === 1);
  await page.getByRole('link', { name: email }).click();
  await page.getByRole('heading', { name: email }).waitFor();
  assert.ok(page.url().endsWith(`/console/admin/accounts/${id}`));
  assert.equal(await page.evaluate('document.images.length'), 0);
});
