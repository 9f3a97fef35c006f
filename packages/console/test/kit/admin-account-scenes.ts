/** The page of an account and of one of its keys, for administrators, with their dialogs. */
import { ofDataPage } from './page-states.ts';
import type { Scene } from './scene.ts';

const accountPath: Scene['path'] = ({ accountId }) => `/console/admin/accounts/${accountId}`;
const servicePath: Scene['path'] = ({ serviceId }) => `/console/admin/accounts/${serviceId}`;
const keyPath: Scene['path'] = ({ accountId, keys }) =>
  `/console/admin/accounts/${accountId}/keys/${keys['billing worker']}`;

/** Opens the dialog of an action, which the menu of the account's page has. */
const accountAction = (name: string): Scene => ({
  name: `admin-account-${name.toLowerCase()}`,
  as: 'administrator',
  path: accountPath,
  act: async (page) => {
    await page.locator('.page-header .actions > .button').click();
    await page.locator(`.menu:popover-open button[name=${name}]`).click();
    await page.locator('dialog [type=submit]').waitFor();
  },
});

/** Opens the dialog of a section's button. @param place among the sections that have one */
const sectionAction = (name: string, path: Scene['path'], place: number): Scene => ({
  name,
  as: 'administrator',
  path,
  act: async (page) => {
    await page.locator('.section-header .actions > .button').nth(place).click();
    await page.locator('dialog [type=submit]').waitFor();
    await page.locator('dialog [aria-busy=true]').first().waitFor({ state: 'detached' });
  },
});

export const accountPageScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-account', path: accountPath, as: 'administrator' }),
  ...ofDataPage({ name: 'admin-account-key', path: keyPath, as: 'administrator' }),
  { name: 'admin-service-account-filled', as: 'administrator', path: servicePath },
];

export const accountDialogScenes: readonly Scene[] = [
  ...['disable', 'compromised', 'role', 'email', 'delete'].map(accountAction),
  sectionAction('admin-account-limits', accountPath, 0),
  sectionAction('admin-account-entitlements', accountPath, 1),
  sectionAction('admin-manager-add', servicePath, 0),
  {
    name: 'admin-account-key-edit',
    as: 'administrator',
    path: keyPath,
    act: async (page) => {
      await page.locator('.page-header .button').first().click();
      await page.locator('dialog [type=submit]').waitFor();
    },
  },
];
