/**
 * Messages of WebAuthn in JSON (WebAuthn Level 3, sections 5.1.8 to 5.1.10, 5.4 and 5.5). Browsers create the responses, and a
 * later browser may add members to them, so the server ignores unknown ones.
 */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';

const text = (example: string, description?: string) =>
  Type.String({ ...(description === undefined ? {} : { description }), examples: [example] });

const base64url = (charsMax: number, example: string, description: string) =>
  Type.String({
    minLength: 1,
    maxLength: charsMax,
    pattern: '^[A-Za-z0-9_-]+$',
    description,
    examples: [example],
  });

const CredentialId = base64url(limits.credentialIdCharsMax, 'u1XkQ0mT8pLw', 'The id of the credential');
const ClientData = base64url(
  limits.passkeyClientDataCharsMax,
  'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0Iiwi',
  'What the browser states about the request',
);
const message = (charsMax: number, description: string) => base64url(charsMax, 'o2NmbXRkbm9uZWdh', description);

const open = { additionalProperties: true } as const;

export const AttestationMessage = Type.Object(
  {
    clientDataJSON: ClientData,
    attestationObject: message(limits.passkeyAttestationCharsMax, 'The credential and its public key'),
    transports: Type.Optional(
      Type.Array(Type.String({ maxLength: 32, examples: ['internal'] }), {
        maxItems: 16,
        description: 'How browsers can reach the authenticator',
      }),
    ),
  },
  { $id: 'PasskeyAttestation', ...open },
);

export const RegistrationResponse = Type.Object(
  { id: CredentialId, rawId: CredentialId, type: Type.Literal('public-key'), response: AttestationMessage },
  { $id: 'PasskeyRegistrationResponse', ...open },
);
export type RegistrationResponse = Static<typeof RegistrationResponse>;

export const AssertionMessage = Type.Object(
  {
    clientDataJSON: ClientData,
    authenticatorData: message(limits.passkeyAuthenticatorDataCharsMax, 'What the authenticator states'),
    signature: message(limits.passkeySignatureCharsMax, 'Of both'),
    userHandle: Type.Optional(
      Type.Union([base64url(128, 'M3q1uRk9', 'The account, as `user.id` of the creation'), Type.Null()]),
    ),
  },
  { $id: 'PasskeyAssertion', ...open },
);

export const AuthenticationResponse = Type.Object(
  { id: CredentialId, rawId: CredentialId, type: Type.Literal('public-key'), response: AssertionMessage },
  {
    $id: 'PasskeyAuthenticationResponse',
    ...open,
    description: 'The result of `navigator.credentials.get()`, as its `toJSON()` returns it',
  },
);
export type AuthenticationResponse = Static<typeof AuthenticationResponse>;

const Challenge = text('9mXv0Qh2…', 'Valid for a few minutes, and once');
const TimeoutMs = Type.Integer({ description: 'Milliseconds', examples: [limits.passkeyChallengeSeconds * 1000] });

export const CredentialDescriptor = Named('PasskeyDescriptor', {
  type: Type.Literal('public-key'),
  id: text('u1XkQ0mT8pLw'),
  transports: Type.Array(text('internal')),
});

export const RelyingPartyName = Named('PasskeyRelyingParty', { id: text('auth.example.com'), name: text('Example') });
export const PasskeyUser = Named('PasskeyUser', {
  id: text('M3q1uRk9…', 'Identifies the account, and is not its id'),
  name: text('ada@example.com'),
  displayName: text('ada@example.com', 'The email address again'),
});
export const CredentialParameters = Named('PasskeyParameters', {
  type: Type.Literal('public-key'),
  alg: Type.Integer({ description: 'COSE (RFC 9053)', examples: [-7] }),
});
export const AuthenticatorSelection = Named('PasskeyAuthenticatorSelection', {
  residentKey: Type.Literal('required'),
  requireResidentKey: Type.Literal(true),
  userVerification: Type.Literal('required'),
});

/** `PublicKeyCredentialCreationOptionsJSON`. */
export const CreationOptions = Named('PasskeyCreationOptions', {
  rp: RelyingPartyName,
  user: PasskeyUser,
  challenge: Challenge,
  pubKeyCredParams: Type.Array(CredentialParameters),
  timeout: TimeoutMs,
  excludeCredentials: Type.Array(CredentialDescriptor, { description: 'The passkeys that the account has' }),
  authenticatorSelection: AuthenticatorSelection,
  attestation: Type.Literal('none'),
});
export type CreationOptions = Static<typeof CreationOptions>;

/** `PublicKeyCredentialRequestOptionsJSON`. */
export const RequestOptions = Named(
  'PasskeyRequestOptions',
  {
    challenge: Challenge,
    timeout: TimeoutMs,
    rpId: text('auth.example.com'),
    allowCredentials: Type.Array(CredentialDescriptor, { description: 'Empty: any passkey of this relying party' }),
    userVerification: Type.Enum(['required', 'preferred']),
  },
  { description: 'The options for `navigator.credentials.get()`' },
);
export type RequestOptions = Static<typeof RequestOptions>;
