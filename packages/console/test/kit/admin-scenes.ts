/** Every page of administrators in each of its states, and their dialogs. */
import { accountDialogScenes, accountPageScenes } from './admin-account-scenes.ts';
import { programDialogScenes, programPageScenes } from './approval-scenes.ts';
import { issuerDialogScenes, issuerPageScenes } from './admin-issuer-scenes.ts';
import { webhookDialogScenes, webhookPageScenes } from './admin-webhook-scenes.ts';
import { overviewScenes } from './admin-overview-scenes.ts';
import { protectScenes } from './protect-scenes.ts';
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const scene = scenesAs('administrator');
const noMatch: Scene['act'] = (page) => page.locator('.empty').waitFor();

const dataPages = [
  { name: 'admin-accounts', path: '/console/admin/accounts' },
  { name: 'admin-keys', path: '/console/admin/keys' },
  { name: 'admin-mail', path: '/console/admin/mail' },
  { name: 'admin-jobs', path: '/console/admin/jobs' },
  { name: 'admin-signing-keys', path: '/console/admin/signing-keys' },
  { name: 'admin-settings', path: '/console/admin/settings' },
  { name: 'admin-audit', path: '/console/admin/audit' },
];

export const adminPageScenes: readonly Scene[] = [
  ...overviewScenes,
  ...protectScenes,
  ...accountPageScenes,
  ...webhookPageScenes,
  ...issuerPageScenes,
  ...programPageScenes,
  ...dataPages.flatMap((page) => ofDataPage({ ...page, as: 'administrator' })),
  scene('admin-accounts-no-match', '/console/admin/accounts?search=no-account-has-this-name', noMatch),
  scene(
    'admin-keys-no-match',
    '/console/admin/keys?search=no-key-has-this-name&owner=acc_none&unusedSince=2026-01-02',
    noMatch,
  ),
  scene('admin-mail-no-match', '/console/admin/mail?to=nobody@example.org&purpose=invitation&state=failed', noMatch),
  scene('admin-jobs-no-match', '/console/admin/jobs?kind=sign_up&state=failing', noMatch),
  scene(
    'admin-audit-details',
    '/console/admin/audit?action=api_key.created',
    opening('.event-details summary', 0, '.event-details pre'),
  ),
  scene('admin-audit-no-match', '/console/admin/audit?target=nothing&from=2026-01-02T03:04:05Z', noMatch),
  scene('admin-not-found', '/console/admin/no-such-page'),
];

export const adminDialogScenes: readonly Scene[] = [
  ...accountDialogScenes,
  ...webhookDialogScenes,
  ...issuerDialogScenes,
  ...programDialogScenes,
  scene('admin-account-invite', '/console/admin/accounts', opening('main .button.primary')),
  scene('admin-key-delete', '/console/admin/keys?search=billing', async (page) => {
    await page.locator('main td .button').first().click();
    await page.locator('.menu:popover-open .danger').click();
    await page.locator('dialog dl').waitFor();
  }),
  scene('admin-palette', '/console/admin/audit', async (page) => {
    await page.locator('.search-button').click();
    await page.getByRole('dialog').getByRole('combobox').fill('ada');
    await page.locator('.palette-list').getByRole('option').filter({ hasText: '@' }).first().waitFor();
  }),
  scene('admin-mail-test', '/console/admin/mail', opening('main .button.primary')),
  scene('admin-signing-keys-rotate-now', '/console/admin/signing-keys', opening('.page-header .button')),
  scene('admin-key-find', '/console/admin/keys', opening('.page-header .button')),
];

export const adminScenes: readonly Scene[] = [...adminPageScenes, ...adminDialogScenes];
