/** Passkeys, with the functions of the browser (WebAuthn Level 3, sections 5.1.4 and 5.1.8). */
import { send, type RequestOf, type ResponseOf } from './api.ts';
import { Problem } from './problem.ts';
import { config } from './session.ts';

export type RequestOptions = ResponseOf<'POST /auth/passkeys/sign-in/options'>;

/** What the browser returns, signed by the authenticator. */
export type PasskeyResponse = RequestOf<'POST /console/session/passkey'>['body']['passkey'];

/** Whether the installation and the browser have passkeys. */
export const hasPasskeys = (): boolean =>
  config.value?.features.passkeys === true &&
  'PublicKeyCredential' in globalThis &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential;

/**
 * Lets the person choose a passkey.
 * @param options by default, those of a sign-in: any passkey of this installation
 * @throws Problem `passkey_cancelled` if the person closes the browser's dialog, `passkey_impossible` at a wrong host
 */
export async function askForPasskey(
  options?: RequestOptions,
  more: CredentialRequestOptions = {},
): Promise<PasskeyResponse> {
  const json = options ?? (await send('POST /auth/passkeys/sign-in/options'));
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json);
    const credential = (await navigator.credentials.get({ ...more, publicKey })) as PublicKeyCredential;
    return credential.toJSON() as PasskeyResponse;
  } catch (error) {
    const isCancelled = error instanceof DOMException && /^(?:NotAllowed|Abort)Error$/.test(error.name);
    throw new Problem(isCancelled ? 'passkey_cancelled' : 'passkey_impossible', 400);
  }
}

/** Options are valid for 5 minutes. */
const renewalMs = 240_000;

/**
 * Offers passkeys in the list of suggestions of the field with `autocomplete="webauthn"`, without a dialog.
 * @param use signs in with the passkey that the person chooses
 * @returns ends the offer
 */
export function offerPasskeys(use: (passkey: PasskeyResponse) => void): () => void {
  let abort = new AbortController();
  const offer = async (): Promise<void> => {
    abort.abort();
    const { signal } = (abort = new AbortController());
    try {
      if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
      const options = await send('POST /auth/passkeys/sign-in/options', { isBackground: true, signal });
      if (!signal.aborted) use(await askForPasskey(options, { mediation: 'conditional', signal }));
    } catch {
      // The password and the button remain.
    }
  };
  void offer();
  const timer = setInterval(() => void offer(), renewalMs);
  return () => {
    clearInterval(timer);
    abort.abort();
  };
}
