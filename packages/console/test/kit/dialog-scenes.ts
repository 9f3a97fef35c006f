/** Dialogs, and states of pages that a person reaches with several steps. */
import { codeAt } from '../../../server/test-kit/authenticator.ts';
import { goodPassword } from '../../../server/test-kit/new-app.ts';
import type { Page } from 'playwright-core';
import { opening, scenesAs, type Scene } from './scene.ts';

const keyPath: Scene['path'] = ({ keys }) => `/console/keys/${keys['billing worker']}`;

const trustKeyPath: Scene['path'] = ({ keys }) => `/console/keys/${keys['release workflow']}`;

const filled = scenesAs('filled');
const fresh = scenesAs('fresh');
const openCreation = opening('main .button.primary', 0, 'dialog [name=nickname]');

/** @returns the secret that the dialog shows beside the QR code */
async function beginSetup(page: Page): Promise<string> {
  await page.locator('main .button.primary').first().click();
  await page.locator('dialog [name=currentPassword]').fill(goodPassword);
  await page.locator('dialog [type=submit]').click();
  await page.locator('dialog [name=code]').waitFor();
  return page.locator('dialog [readonly]:visible').first().inputValue();
}

/** @param workload one of the options */
const openTrust =
  (workload: string): NonNullable<Scene['act']> =>
  async (page, at) => {
    await openCreation(page, at);
    await page.locator('dialog [name=trust]').check();
    await page.locator('dialog [name=workload]').selectOption(workload);
  };

export const dialogScenes: readonly Scene[] = [
  filled('create-key', '/console/keys', openCreation),
  filled('create-trust-github', '/console/keys', openTrust('github')),
  filled('create-trust-kubernetes', '/console/keys', openTrust('kubernetes')),
  filled('create-trust-other', '/console/keys', openTrust('other')),
  filled('trust-created', '/console/keys', async (page, at) => {
    await openTrust('github')(page, at);
    await page.locator('dialog [name=nickname]').fill('billing worker 2');
    await page.locator('dialog [name="/repository_id"]').fill('4711');
    await page.locator('dialog [type=submit]').click();
    await page.locator('dialog .code-block').waitFor();
  }),
  filled('rotate-trust', trustKeyPath, opening('.page-header .button', 1, 'dialog [name=overlap]')),
  scenesAs('empty')('secret', '/console/keys', async (page, at) => {
    await openCreation(page, at);
    await page.locator('dialog [name=nickname]').fill('billing worker');
    await page.locator('dialog [type=submit]').click();
    await page.locator('dialog [name=stored]').waitFor();
  }),
  filled('palette', '/console/security', async (page) => {
    await page.keyboard.press('ControlOrMeta+K');
    await page.getByRole('dialog').getByRole('combobox').fill('bi');
    // A key, after the pages.
    await page.locator('.palette-list').getByRole('option').filter({ hasText: 'billing worker' }).first().waitFor();
  }),
  filled('rotate-key', keyPath, opening('.page-header .button', 1, 'dialog [name=overlap]')),
  filled('delete-key', keyPath, opening('.page-header .button.danger', 0, 'dialog dl')),
  filled('keys-no-match', '/console/keys?search=no-key-has-this-name', (page) =>
    page.locator('main .button:not(.link)').nth(1).waitFor(),
  ),
  fresh('second-factor-setup', '/console/security', async (page) => void (await beginSetup(page))),
  fresh('recovery-codes', '/console/security', async (page, { app }) => {
    const secret = await beginSetup(page);
    await page.locator('dialog [name=code]').fill(codeAt(secret.replaceAll(' ', ''), app.clock.now()));
    await page.locator('dialog [type=submit]').click();
    await page.locator('dialog .recovery-codes').waitFor();
  }),
  {
    name: 'sign-in-code',
    as: 'enrolled',
    path: '/console/sign-in',
    act: async (page, { seeded }) => {
      await page.locator('[name=email]').fill(seeded.email);
      await page.locator('[name=password]').fill(goodPassword);
      await page.locator('[type=submit]').click();
      await page.locator('[name=code]').waitFor();
    },
    messages: [/status of 401 /],
  },
  {
    name: 'first-administrator',
    as: 'stranger',
    path: '/console',
    // The installation of the other scenes has an administrator.
    load: async (page, path, visitor) => {
      await page.route('**/console/config', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), needsAdministrator: true } });
      });
      await visitor.goto(path, page);
    },
  },
  {
    // The last one: it changes the clock, so that the sign-ins of the other scenes are no longer recent.
    name: 'confirmation',
    as: 'filled',
    path: ({ serviceId }) => `/console/service-accounts/${serviceId}`,
    act: async (page, { app, seeded }) => {
      app.clock.advance({ seconds: 6 * 60 });
      await page.locator('main .button.danger').last().click();
      await page.locator('dialog input:visible').fill(`${seeded.email} backend`);
      await page.locator('dialog [type=submit]').click();
      await page.locator('dialog [name=password]').waitFor();
    },
    messages: [/status of 403 /],
  },
];
