/** The life of a passkey, with the virtual authenticator of Chromium. */
import type { Page } from 'playwright-core';
import { goodPassword } from '../../server/test-kit/new-app.ts';
import { addAuthenticator, type Protocol } from '../../server/test-kit/virtual-authenticator.ts';
import { consoleTests, type ConsoleSite } from './kit/console-site.ts';
import { signIn, signOut } from './kit/sign-in.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

/** Opens the console of a new account, in a browser with an authenticator. */
async function openWithAuthenticator(site: ConsoleSite) {
  const visitor = await site.openSignedIn();
  // The passkey is asked for after the password, or was removed.
  visitor.expectStatus(401);
  visitor.expect(/^info: Clear-Site-Data header/);
  const cdp = await visitor.openProtocol();
  const authenticatorId = await addAuthenticator(cdp);
  return { visitor, page: visitor.page, email: visitor.email, cdp, authenticatorId };
}

/** Presence: whether the authenticator responds to requests without a further action of the person. */
const setPresence = (cdp: Protocol, authenticatorId: string, enabled: boolean) =>
  cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });

/**
 * In the documents that the page loads from now on, the sign-in page makes no offer in the suggestions of the first field. The
 * authenticator responds to it by itself, before a click.
 */
async function preventOffers(cdp: Protocol): Promise<void> {
  await cdp.send('Page.enable');
  const source = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false;';
  await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source });
}

/** Signs out, and chooses the passkey of the authenticator with the button of the sign-in page. */
async function useAfterSignOut({ page }: Visitor): Promise<void> {
  await signOut(page);
  await passkeyButton(page).click();
}

/** Adds a passkey on the security page, as the first second factor of the account. */
async function addPasskey(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  await visitor.goto('/console/security');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByLabel('I have stored them').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('rowheader', { name }).waitFor();
}

const keysHeading = (page: Page) => page.getByRole('heading', { level: 1, name: 'API keys' });
/** The button of the same name exists before the second factor, too. */
const secondFactorHeading = (page: Page) => page.getByRole('heading', { level: 1, name: 'Second factor' });
const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Use a passkey' });

test(
  'a person adds a passkey, signs in with it and removes it, and then it is not accepted',
  async (site) => {
    const { visitor, page, cdp, authenticatorId } = await openWithAuthenticator(site);
    await preventOffers(cdp);
    const dialog = page.getByRole('dialog');

    await addPasskey(visitor, 'laptop');
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });

    await useAfterSignOut(visitor);
    await keysHeading(page).waitFor();
    await visitor.goto('/console/security');
    // Without a code, it is also the factor that a change of the factors needs.
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog.getByLabel('Current password').fill(goodPassword);
    await dialog.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Remove laptop' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('You have no passkey.').waitFor();

    // The browser may have removed it from the authenticator too.
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
    for (const credential of credentials) await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
    await useAfterSignOut(visitor);
    await page.getByText('The passkey was not accepted.').waitFor();
  },
  { databases: ['sqlite'] },
);

test(
  'a passkey signs in from the suggestions of the browser, and is the second factor after a password',
  async (site) => {
    const { visitor, page, email, cdp, authenticatorId } = await openWithAuthenticator(site);
    await addPasskey(visitor, 'phone');

    // The authenticator chooses the suggestion. No field is filled and no button is pressed.
    await signOut(page);
    await keysHeading(page).waitFor();

    await setPresence(cdp, authenticatorId, false);
    await signOut(page);
    await signIn(page, email);
    await secondFactorHeading(page).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await signIn(page, email);
    await secondFactorHeading(page).waitFor();
    await setPresence(cdp, authenticatorId, true);
    await passkeyButton(page).click();
    await keysHeading(page).waitFor();
  },
  { databases: ['sqlite'] },
);

test(
  'a passkey signs in alone after the person went back from the second factor, and not while the password is checked',
  async (site) => {
    const { visitor, page, email, cdp, authenticatorId } = await openWithAuthenticator(site);
    await addPasskey(visitor, 'phone');
    await setPresence(cdp, authenticatorId, false);
    await signOut(page);
    // The sign-out is a request to the same path.
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();

    const held = Promise.withResolvers<void>();
    await page.route('/console/session', async (route) => {
      await held.promise;
      await route.continue();
    });
    await signIn(page, email);
    // Otherwise a passkey that is chosen now would be sent as the second factor, and be rejected.
    await page.locator('button[aria-disabled=true]', { hasText: 'Use a passkey' }).waitFor();
    held.resolve();
    await secondFactorHeading(page).waitFor();
    await page.unroute('/console/session');

    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByLabel('Password', { exact: true }).fill('a password');
    await setPresence(cdp, authenticatorId, true);
    await passkeyButton(page).click();
    await keysHeading(page).waitFor();
  },
  { databases: ['sqlite'] },
);
