/** The console below the path of the public URL. */
import assert from 'node:assert/strict';
import { freePort } from '../../server/test-kit/free-port.ts';
import { goodPassword } from '../../server/test-kit/new-app.ts';
import { testedKinds } from '../../server/test-kit/new-db.ts';
import { consoleTests } from './kit/console-site.ts';

const port = await freePort();
const environment = { KEYREEVE_PORT: String(port), KEYREEVE_PUBLIC_URL: `http://localhost:${port}/id` };
const test = consoleTests({ environment });

test(
  'below a path, a person signs in, creates a key, follows links and reloads, all below the path',
  async (site) => {
    const { email } = await site.app.createAccount();
    const visitor = await site.open();
    const { page } = visitor;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await visitor.goto('/id/console');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(goodPassword);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    await button('Create key').first().click();
    await page.getByLabel('Nickname').fill('billing worker');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'billing worker' }).click();
    await page.getByRole('heading', { level: 1, name: 'billing worker' }).waitFor();
    assert.match(new URL(page.url()).pathname, /^\/id\/console\/keys\/\d+$/);
    await visitor.settle();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'billing worker' }).waitFor();
    await page.getByRole('link', { name: 'Security' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Security' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/id/console/security');
    await visitor.settle();
  },
  { databases: testedKinds.slice(0, 1) },
);
