/** Texts of other people, which the pages must show as text. */
import assert from 'node:assert/strict';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import { directionText, hostileTexts, hostileUserAgent, seedAccount } from './kit/seed.ts';

const test = consoleTests();

// A script that runs opens a dialog, which is a fault of the visitor.
test('hostile nicknames and user agents are shown as text on every page', async (site) => {
  const visitor = await site.open();
  const { page, context } = visitor;
  const names = Object.values(hostileTexts);
  const { email, keys, serviceId } = await seedAccount(site.app, 'hostile@example.com', names);
  await signInByCookie(context, email);
  const counts = (): Promise<unknown> => page.evaluate('[document.images.length, document.scripts.length]');

  await visitor.goto('/console/account');
  const before = await counts();
  await visitor.goto('/console/keys');
  for (const name of [...names, directionText]) await page.getByText(name, { exact: true }).first().waitFor();
  assert.deepEqual(await counts(), before);
  // Isolated, so that it does not change the direction of the texts beside it.
  assert.equal(
    (await page
      .locator('bdi')
      .getByText(directionText, { exact: true })
      .or(page.locator('bdi', { hasText: directionText }))
      .count()) > 0,
    true,
  );
  for (const name of names) {
    await visitor.goto(`/console/keys/${keys[name]}`);
    assert.equal(await page.locator('h1').innerText(), name);
    assert.ok((await page.title()).startsWith(name));
    assert.deepEqual(await counts(), before);
    await page.getByRole('button', { name: 'Delete key' }).click();
    await page.getByRole('dialog').getByText(name, { exact: true }).first().waitFor();
    assert.deepEqual(await counts(), before);
  }
  await visitor.goto('/console/security');
  assert.match(await page.locator('main').innerHTML(), /&lt;b(?:&gt;|>)bold/);
  assert.deepEqual(await counts(), before);
  await visitor.goto(`/console/service-accounts/${serviceId}`);
  assert.deepEqual(await counts(), before);
  assert.ok(hostileUserAgent.includes('<img'));
});
