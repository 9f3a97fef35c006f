/**
 * Verification of WebAuthn responses. The only file that uses the WebAuthn library. Commands do not load it: it takes 0.3 s
 * and 14 MiB.
 */
import type { AuthenticationResponse, RegistrationResponse } from '@keyreeve/contract';
import { lazily } from '../../foundation/lazy-modules.ts';
import type { RelyingParty } from './relying-party.ts';

/** COSE algorithm identifiers (RFC 9053), most preferred first: EdDSA, ES256, RS256. */
export const algorithms = [-8, -7, -257] as const;

const load = lazily(async () => {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, ...helpers };
});

export interface NewCredential {
  readonly id: Buffer;
  /** COSE_Key (RFC 9052). */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** Whether the challenge is valid. */
type CheckChallenge = (challenge: string) => boolean;

/**
 * Verifies a new credential (WebAuthn Level 3, section 7.1). User verification is required.
 * @returns undefined when it is not valid
 */
export async function verifyRegistration(
  response: RegistrationResponse,
  { id, origins }: RelyingParty,
  isChallengeValid: CheckChallenge,
): Promise<NewCredential | undefined> {
  const { decodeAttestationObject, verifyRegistrationResponse } = await load();
  try {
    if (isCrossOrigin(response.response.clientDataJSON)) return undefined;
    const attestation = decodeAttestationObject(bytesOf(response.response.attestationObject));
    const format = attestation.get('fmt');
    // No attestation, or one by the credential itself. The verification of certificates would request the URLs in them.
    const isAllowed = format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
    if (!isAllowed) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: response.id,
        rawId: response.rawId,
        type: response.type,
        clientExtensionResults: {},
        response: {
          clientDataJSON: response.response.clientDataJSON,
          attestationObject: response.response.attestationObject,
        },
      },
      expectedChallenge: isChallengeValid,
      expectedOrigin: [...origins],
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    });
    if (!verified) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    // The members `id` and `rawId` are not signed; the id in the attestation is.
    if (credential.id !== response.id) return undefined;
    return {
      id: Buffer.from(credential.id, 'base64url'),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      isBackedUp: credentialBackedUp,
    };
  } catch {
    // The library throws for every response that is not valid.
    return undefined;
  }
}

export interface Assertion {
  readonly counter: number;
  readonly isUserVerified: boolean;
  readonly isBackedUp: boolean;
}

export interface AssertionCheck {
  readonly response: AuthenticationResponse;
  readonly relyingParty: RelyingParty;
  /** COSE_Key (RFC 9052) of the credential. */
  readonly publicKey: Uint8Array;
  readonly isChallengeValid: CheckChallenge;
  readonly requiresUserVerification: boolean;
}

/**
 * Verifies a response of a credential (WebAuthn Level 3, section 7.2) except its counter, which the caller compares after the
 * signature: otherwise a client without the private key could cause the alarm about a copied passkey.
 * @returns undefined when it is not valid
 */
export async function verifyAssertion(check: AssertionCheck): Promise<Assertion | undefined> {
  const { response, relyingParty, publicKey, isChallengeValid, requiresUserVerification } = check;
  const { verifyAuthenticationResponse } = await load();
  const { clientDataJSON, authenticatorData, signature } = response.response;
  try {
    if (isCrossOrigin(clientDataJSON)) return undefined;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: response.id,
        rawId: response.rawId,
        type: response.type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: isChallengeValid,
      expectedOrigin: [...relyingParty.origins],
      expectedRPID: relyingParty.id,
      credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: requiresUserVerification,
    });
    if (!verified) return undefined;
    const { newCounter: counter, userVerified: isUserVerified, credentialBackedUp: isBackedUp } = authenticationInfo;
    return { counter, isUserVerified, isBackedUp };
  } catch {
    // The library throws for every response that is not valid.
    return undefined;
  }
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));

/** A page of another origin has embedded the page that used the passkey. @throws SyntaxError */
function isCrossOrigin(clientDataJson: string): boolean {
  const { crossOrigin } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString()) as { crossOrigin?: unknown };
  return crossOrigin === true;
}
