/** Errors stand at their field, below the hint, in the language of the console; dialogs open where the person works. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { assertAccessible } from './accessibility.ts';
import { consoleTests, signInByCookie } from './kit/console-site.ts';
import { focused } from './kit/visitor.ts';

const test = consoleTests();
const databases = ['sqlite'] as const;

/** The texts that a screen reader reads with a control. */
async function descriptionOf(control: Locator): Promise<string[]> {
  const ids = ((await control.getAttribute('aria-describedby')) ?? '').split(' ');
  return Promise.all(ids.map(async (id) => (await control.page().locator(`[id="${id}"]`).innerText()).trim()));
}

test(
  'a field shows its hint and below it the error, and both are read with the field',
  async (site) => {
    const visitor = await site.openNewKey();
    visitor.expectStatus(400);
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    await dialog.getByText('IP ranges and limits').click();
    const addresses = dialog.getByLabel('IP ranges');
    await addresses.fill('192.0.2.1\n203.0.113.7/24');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('.field-error').waitFor();
    assert.deepEqual(await descriptionOf(addresses), [
      'The key is valid only from these IP addresses and CIDR ranges, one on each line.',
      'Entry 2: This range has host bits. Did you mean 203.0.113.0/24?',
    ]);
    assert.equal(await addresses.getAttribute('aria-invalid'), 'true');
    assert.equal(await focused(page).getAttribute('name'), 'addresses');
    // The field has the sentence, so the form does not repeat it.
    assert.equal(await dialog.locator('.form-message').first().isVisible(), false);
    await assertAccessible(page, 'the dialog with an error');
    await addresses.fill('203.0.113.0/24');
    await dialog.getByRole('group', { name: 'Rate limit' }).getByLabel('Requests').fill('5');
    const burst = dialog.getByRole('group', { name: 'Rate limit' }).getByLabel('At once');
    await burst.fill('6');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('.field-error').waitFor();
    assert.deepEqual(await descriptionOf(burst), ['The largest possible value is 5.']);
    assert.equal(await focused(page).getAttribute('name'), 'rateBurst');
  },
  { databases },
);

test(
  'the error of a group does not replace its hint, in German',
  async (site) => {
    const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
    await site.app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
    const visitor = await site.open({ locale: 'de-DE' });
    visitor.expectStatus(400);
    await signInByCookie(visitor.context, email);
    await visitor.goto('/console/admin/webhooks');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Webhook erstellen' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('https://example.com/hook');
    await dialog.locator('[type=submit]').click();
    const events = dialog.getByRole('group', { name: 'Ereignisse' });
    await events.locator('.field-error').first().waitFor();
    assert.deepEqual(await descriptionOf(events), ['Mindestens eines.', 'Mindestzahl: 1.']);
    assert.equal(await focused(page).getAttribute('type'), 'checkbox');
    await assertAccessible(page, 'the dialog with the error of a group');
  },
  { databases },
);

test(
  'a dialog opens with the focus in its work: at a field, at the copy of a secret, or at the button that destroys nothing',
  async (site) => {
    const visitor = await site.openNewKey();
    const { page } = visitor;
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('I have stored it').waitFor();
    assert.match(await focused(page).innerText(), /^Copy\s+Secret$/);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'billing worker' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual([await focused(page).getAttribute('name'), await focused(page).isChecked()], ['overlap', true]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete key' }).click();
    await page.getByRole('dialog').waitFor();
    assert.equal(await focused(page).innerText(), 'Cancel');
  },
  { databases },
);
