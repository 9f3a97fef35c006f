/** Every page of administrators in each of its states, and their dialogs. */
import { accountDialogScenes, accountPageScenes } from './admin-account-scenes.ts';
import { webhookDialogScenes, webhookPageScenes } from './admin-webhook-scenes.ts';
import { overviewScenes } from './admin-overview-scenes.ts';
import { ofDataPage } from './page-states.ts';
import type { Scene } from './scene.ts';

const clickPrimary: Scene['act'] = (page) => page.locator('main .button.primary').first().click();

const dataPages = [
  { name: 'admin-accounts', path: '/console/admin/accounts' },
  { name: 'admin-keys', path: '/console/admin/keys' },
  { name: 'admin-mail', path: '/console/admin/mail' },
  { name: 'admin-signing-keys', path: '/console/admin/signing-keys' },
  { name: 'admin-settings', path: '/console/admin/settings' },
  { name: 'admin-audit', path: '/console/admin/audit' },
];

export const adminPageScenes: readonly Scene[] = [
  ...overviewScenes,
  ...accountPageScenes,
  ...webhookPageScenes,
  ...dataPages.flatMap((page) => ofDataPage({ ...page, as: 'administrator' })),
  {
    name: 'admin-accounts-no-match',
    as: 'administrator',
    path: '/console/admin/accounts?search=no-account-has-this-name',
    act: (page) => page.locator('.empty').waitFor(),
  },
  {
    name: 'admin-keys-no-match',
    as: 'administrator',
    path: '/console/admin/keys?search=no-key-has-this-name&owner=acc_none&unusedSince=2026-01-02',
    act: (page) => page.locator('.empty').waitFor(),
  },
  {
    name: 'admin-mail-no-match',
    as: 'administrator',
    path: '/console/admin/mail?kind=sign_up&state=failing',
    act: (page) => page.locator('.empty').waitFor(),
  },
  {
    name: 'admin-audit-details',
    as: 'administrator',
    path: '/console/admin/audit?action=api_key.created',
    act: async (page) => {
      await page.locator('.event-details summary').first().click();
      await page.locator('.event-details pre').first().waitFor();
    },
  },
  {
    name: 'admin-audit-no-match',
    as: 'administrator',
    path: '/console/admin/audit?target=nothing&from=2026-01-02T03:04:05Z',
    act: (page) => page.locator('.empty').waitFor(),
  },
  { name: 'admin-not-found', as: 'administrator', path: '/console/admin/no-such-page' },
];

export const adminDialogScenes: readonly Scene[] = [
  ...accountDialogScenes,
  ...webhookDialogScenes,
  { name: 'admin-account-invite', as: 'administrator', path: '/console/admin/accounts', act: clickPrimary },
  {
    name: 'admin-key-delete',
    as: 'administrator',
    path: '/console/admin/keys?search=billing',
    act: async (page) => {
      await page.locator('main td .button').first().click();
      await page.locator('.menu:popover-open .danger').click();
      await page.locator('dialog dl').waitFor();
    },
  },
  {
    name: 'admin-mail-test',
    as: 'administrator',
    path: '/console/admin/mail',
    act: clickPrimary,
  },
  {
    name: 'admin-signing-keys-rotate-now',
    as: 'administrator',
    path: '/console/admin/signing-keys',
    act: (page) => page.locator('.page-header .button').first().click(),
  },
  {
    name: 'admin-key-find',
    as: 'administrator',
    path: '/console/admin/keys',
    act: (page) => page.locator('.page-header .button').click(),
  },
];

export const adminScenes: readonly Scene[] = [...adminPageScenes, ...adminDialogScenes];
