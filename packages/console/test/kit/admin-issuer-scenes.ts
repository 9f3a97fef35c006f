/** The page about issuers, for administrators, with its dialogs, and a key that trusts one. */
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const as = 'administrator';
const path = '/console/admin/issuers';
const scene = scenesAs(as);

/** Opens a dialog from the menu of an issuer whose JWK set is fetched, so it has all actions. @param place among them */
const issuerAction = (name: string, place: number): Scene =>
  scene(`admin-issuer-${name}`, path, async (page, at) => {
    await page.locator('main tr', { hasText: 'githubusercontent' }).locator('td .button').click();
    await opening('.menu:popover-open button', place)(page, at);
    await page.locator('dialog [aria-busy=true]').first().waitFor({ state: 'detached' });
  });

export const issuerPageScenes: readonly Scene[] = [
  ...ofDataPage({ name: 'admin-issuers', path, as }),
  scene('admin-trust-key-filled', ({ accountId, keys }) => {
    return `/console/admin/accounts/${accountId}/keys/${keys['release workflow']}`;
  }),
];

export const issuerDialogScenes: readonly Scene[] = [
  scene('admin-issuer-add', path, async (page, at) => {
    await opening('main .button.primary')(page, at);
    await page.locator('dialog summary').click();
  }),
  issuerAction('change', 0),
  issuerAction('refresh', 1),
  issuerAction('remove', 2),
];
