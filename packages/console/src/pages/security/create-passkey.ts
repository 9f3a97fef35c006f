/** Creates passkeys in the browser, and tells password managers which ones the account still has. */
import { call } from '../../api.ts';
import { Problem } from '../../problem.ts';
import type { RequestOf, ResponseOf } from '../../api.ts';

export type PasskeyList = ResponseOf<'GET /auth/passkeys'>;
type Registration = RequestOf<'POST /auth/passkeys'>['body']['response'];

export const canCreatePasskeys = (): boolean =>
  typeof globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON === 'function';

/** @throws Problem `passkey_not_created`, `passkey_exists`, `passkey_failed`, or one of the API */
export async function createPasskey(name: string): Promise<ResponseOf<'POST /auth/passkeys'>> {
  const options = await call('POST /auth/passkeys/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw new Problem(codeOf(error), 0);
  });
  if (!(credential instanceof PublicKeyCredential)) throw new Problem('passkey_failed', 0);
  return call('POST /auth/passkeys', { body: { name, response: credential.toJSON() as unknown as Registration } });
}

function codeOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') return 'passkey_exists';
  return name === 'NotAllowedError' || name === 'AbortError' ? 'passkey_not_created' : 'passkey_failed';
}

/** Not every browser has these functions. */
type Signals = Partial<Pick<typeof PublicKeyCredential, 'signalUnknownCredential' | 'signalAllAcceptedCredentials'>>;

/**
 * After a removal, so that password managers no longer offer the passkey. Browsers without it change nothing. Loads the
 * passkeys that remain: a list from before the removal may lack one that was added elsewhere.
 */
export async function signalRemoval(rpId: string | null, credentialId: string): Promise<void> {
  if (rpId === null) return;
  const browser: Signals = PublicKeyCredential;
  const signalOthers = async (): Promise<void> => {
    const { userHandle, passkeys } = await call('GET /auth/passkeys');
    const allAcceptedCredentialIds = passkeys.map((passkey) => passkey.credentialId);
    await browser.signalAllAcceptedCredentials?.({ rpId, userId: userHandle, allAcceptedCredentialIds });
  };
  // The passkey has been removed, whatever the password manager does.
  await Promise.allSettled([browser.signalUnknownCredential?.({ rpId, credentialId }), signalOthers()]);
}
