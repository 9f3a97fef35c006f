/** Every page of administrators in each of its states, and their dialogs. */
import { ofDataPage } from './page-states.ts';
import type { Scene } from './scene.ts';

const clickPrimary: Scene['act'] = (page) => page.locator('main .button.primary').first().click();

const dataPages = [{ name: 'admin-accounts', path: '/console/admin/accounts' }];

export const adminPageScenes: readonly Scene[] = [
  ...dataPages.flatMap((page) => ofDataPage({ ...page, as: 'administrator' })),
  {
    name: 'admin-accounts-no-match',
    as: 'administrator',
    path: '/console/admin/accounts?search=no-account-has-this-name',
    act: (page) => page.locator('.empty').waitFor(),
  },
  { name: 'admin-not-found', as: 'administrator', path: '/console/admin/no-such-page' },
];

export const adminDialogScenes: readonly Scene[] = [
  { name: 'admin-account-invite', as: 'administrator', path: '/console/admin/accounts', act: clickPrimary },
];

export const adminScenes: readonly Scene[] = [...adminPageScenes, ...adminDialogScenes];
