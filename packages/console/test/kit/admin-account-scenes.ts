/** The page of an account and of one of its keys, for administrators, with their dialogs. */
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const accountPath: Scene['path'] = ({ accountId }) => `/console/admin/accounts/${accountId}`;
const servicePath: Scene['path'] = ({ serviceId }) => `/console/admin/accounts/${serviceId}`;
const keyPath: Scene['path'] = ({ accountId, keys }) =>
  `/console/admin/accounts/${accountId}/keys/${keys['billing worker']}`;

const scene = scenesAs('administrator');

/** Opens the dialog of an action, which the menu of the account's page has. */
const accountAction = (name: string): Scene =>
  scene(`admin-account-${name.toLowerCase()}`, accountPath, async (page, at) => {
    await page.locator('.page-header .actions > .button').click();
    await opening(`.menu:popover-open button[name=${name}]`)(page, at);
  });

/** Opens the dialog of a section's button. @param place among the sections that have one */
const sectionAction = (name: string, path: Scene['path'], place: number): Scene =>
  scene(name, path, async (page, at) => {
    await opening('.section-header .actions > .button', place)(page, at);
    await page.locator('dialog [aria-busy=true]').first().waitFor({ state: 'detached' });
  });

const openManagementKey = (opened: string) => opening('.page-header .button:not(.primary)', 0, opened);

export const accountPageScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-account', path: accountPath, as: 'administrator' }),
  ...ofDataPage({ name: 'admin-account-key', path: keyPath, as: 'administrator' }),
  scene('admin-service-account-filled', servicePath),
];

export const accountDialogScenes: readonly Scene[] = [
  ...['disable', 'compromised', 'role', 'email', 'delete'].map(accountAction),
  sectionAction('admin-account-key-create', accountPath, 0),
  sectionAction('admin-account-limits', accountPath, 1),
  sectionAction('admin-account-entitlements', accountPath, 2),
  sectionAction('admin-service-account-key-create', servicePath, 1),
  sectionAction('admin-manager-add', servicePath, 2),
  scene('admin-management-key-no-factor', '/console/admin/accounts', openManagementKey('dialog .notice')),
  {
    ...scene('admin-management-key', '/console/admin/accounts', openManagementKey('dialog [name=addresses]')),
    // The administrator of the other scenes has no second factor.
    load: async (page, path, visitor) => {
      await page.route('**/console/session', async (route) => {
        const response = await route.fetch();
        const view = (await response.json()) as { account: object };
        await route.fulfill({ response, json: { ...view, account: { ...view.account, secondFactor: true } } });
      });
      await visitor.goto(path, page);
    },
  },
  scene('admin-account-key-edit', keyPath, opening('.page-header .button')),
];
