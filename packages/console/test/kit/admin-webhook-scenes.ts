/** The pages about webhooks and scopes, for administrators, with their dialogs. */
import type { Page } from 'playwright-core';
import { ofDataPage } from './page-states.ts';
import type { Scene } from './scene.ts';

const as = 'administrator';
const webhookPath: Scene['path'] = ({ webhookId }) => `/console/admin/webhooks/${webhookId}`;

async function openCreation(page: Page): Promise<void> {
  await page.locator('main .button.primary').first().click();
  await page.locator('dialog [type=submit]').waitFor();
}

/** @param place among the buttons beside the heading */
const webhookAction = (name: string, place: number): Scene => ({
  name: `admin-webhook-${name}`,
  as,
  path: webhookPath,
  act: async (page) => {
    await page.locator('.page-header .button').nth(place).click();
    await page.locator('dialog [type=submit]').waitFor();
  },
});

export const webhookPageScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-webhooks', path: '/console/admin/webhooks', as }),
  ...ofDataPage({ name: 'admin-webhook', path: webhookPath, as }),
  ...ofDataPage({ name: 'admin-scopes', path: '/console/admin/scopes', as }),
];

export const webhookDialogScenes: readonly Scene[] = [
  { name: 'admin-webhook-create', as, path: '/console/admin/webhooks', act: openCreation },
  webhookAction('rotate', 1),
  webhookAction('disable', 2),
  webhookAction('delete', 3),
  {
    name: 'admin-webhook-replay',
    as,
    path: webhookPath,
    act: async (page) => {
      await page.locator('.section-header .button').first().click();
      await page.locator('dialog [type=submit]').waitFor();
    },
  },
  { name: 'admin-scope-declare', as, path: '/console/admin/scopes', act: openCreation },
];
