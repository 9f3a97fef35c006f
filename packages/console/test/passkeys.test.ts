/** The life of a passkey, with the virtual authenticator of Chromium. */
import type { CDPSession } from 'playwright-core';
import { consoleTests } from './kit/console-site.ts';
import { signOut } from './kit/sign-in.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();

async function addAuthenticator(cdp: CDPSession): Promise<string> {
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return authenticatorId;
}

/** Signs out, and chooses the passkey of the authenticator with the button of the sign-in page. */
async function useAfterSignOut({ page }: Visitor, cdp: CDPSession, authenticatorId: string): Promise<void> {
  const setPresence = (enabled: boolean) =>
    cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  // Otherwise the authenticator responds to the offer in the suggestions of the first field.
  await setPresence(false);
  await signOut(page);
  // A typed password ends that offer.
  await page.getByLabel('Password', { exact: true }).fill('a password');
  await setPresence(true);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
}

test(
  'a person adds a passkey, signs in with it and removes it, and then it is not accepted',
  async (site) => {
    const visitor = await site.openSignedIn();
    // The passkey that was removed.
    visitor.expectStatus(401);
    visitor.expect(/^info: Clear-Site-Data header/);
    const { page } = visitor;
    const cdp = await visitor.context.newCDPSession(page);
    const authenticatorId = await addAuthenticator(cdp);
    const dialog = page.getByRole('dialog');

    await visitor.goto('/console/security');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await dialog.getByLabel('Name').fill('laptop');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('rowheader', { name: 'laptop' }).waitFor();
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });

    await useAfterSignOut(visitor, cdp, authenticatorId);
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await visitor.goto('/console/security');
    await page.getByRole('button', { name: 'Remove laptop' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('You have no passkey.').waitFor();

    // The browser may have removed it from the authenticator too.
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
    for (const credential of credentials) await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
    await useAfterSignOut(visitor, cdp, authenticatorId);
    await page.getByText('The passkey was not accepted.').waitFor();
  },
  { databases: ['sqlite'] },
);
