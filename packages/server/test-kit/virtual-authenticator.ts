/** The virtual authenticator of Chromium: it verifies its user, and responds without a further action. */
import type { CDPSession } from 'playwright-core';

/** The protocol of Chromium for a page. */
export type Protocol = Pick<CDPSession, 'send'>;

/** @returns the id of the authenticator in Chromium's protocol */
export async function addAuthenticator(cdp: Protocol): Promise<string> {
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
