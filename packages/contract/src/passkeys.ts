/** Passkeys (WebAuthn Level 3): registration, list, and sign-in. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { CreationOptions, RegistrationResponse, RequestOptions, AuthenticationResponse } from './passkey-messages.ts';
import { route } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';
import { TokenPair } from './tokens.ts';

const PasskeyId = Text('pas_5Tz0pWc8hKq2RmY7LbX1Nd', 'Not a secret');

const Name = Type.String({
  minLength: 1,
  maxLength: limits.nicknameCodePointsMax,
  description: 'Shown in the list',
  examples: ['Ada’s phone'],
});

export const NewPasskeyBody = Named(
  'NewPasskey',
  { name: Name, response: RegistrationResponse },
  { description: '`response`: the result of `navigator.credentials.create()`, as its `toJSON()` returns it' },
);

export const PasskeyNameBody = Named('PasskeyName', { name: Name });

export const PasskeySignInBody = Named(
  'PasskeySignIn',
  {
    passkey: AuthenticationResponse,
    email: Type.Optional(Type.String({ minLength: 1, maxLength: limits.emailCharsMax, examples: ['ada@example.com'] })),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.passwordBytesMax, examples: ['wombat orbit velvet 42'] }),
    ),
  },
  { description: 'With `email` and `password`, the passkey is the second factor. Without both, it is the only factor' },
);

export const Passkey = Named('Passkey', {
  id: PasskeyId,
  name: Text('Ada’s phone'),
  createdAt: Instant,
  lastUsedAt: orNull(Instant),
  synced: Type.Boolean({ description: 'Whether it is backed up, and so possibly on several devices' }),
  usable: Type.Boolean({
    description: 'False if it was created for another `KEYREEVE_PASSKEY_RP_ID`: browsers do not offer it',
  }),
  credentialId: Text('u1XkQ0mT8pLw', 'The id in WebAuthn, in base64url'),
});
export type Passkey = Static<typeof Passkey>;

export const PasskeyList = Named('PasskeyList', {
  passkeys: Type.Array(Passkey),
  userHandle: Text('M3q1uRk9…', 'The account in WebAuthn (`user.id`), for `signalAllAcceptedCredentials()`'),
  rpId: orNull(Text('auth.example.com', 'Null: this installation has no passkeys')),
});
export type PasskeyList = Static<typeof PasskeyList>;

export const AddedPasskey = Named('AddedPasskey', {
  passkey: Passkey,
  recoveryCodes: Type.Array(Type.String(), {
    description: 'Only with the account’s first second factor; otherwise empty. Each works once in place of a passkey',
    examples: [['7K2M-Q9XD-4RTB-0HVN-6WCE-P3JA']],
  }),
});
export type AddedPasskey = Static<typeof AddedPasskey>;

const own = { tag: 'Passkeys', auth: 'access_token' } as const;
const tag = 'Passkeys';
const params = Type.Object({ id: PasskeyId });

export const passkeyOptions = route('passkeyOptions', 'POST /auth/passkeys/options', {
  ...own,
  summary: 'Start to add a passkey',
  description: `Returns the options for \`navigator.credentials.create()\` (\`PublicKeyCredential.parseCreationOptionsFromJSON()\`). They are valid for ${limits.passkeyChallengeSeconds / 60} minutes, for this session. Nothing is stored.`,
  isOpenBeforeEnrolment: true,
  needsRecentSignIn: true,
  success: { status: 200, description: 'The options', schema: CreationOptions },
  errors: ['passkeys_unavailable', 'passkey_limit_reached'],
});

export const addPasskey = route('addPasskey', 'POST /auth/passkeys', {
  ...own,
  summary: 'Add a passkey',
  description:
    'The passkey can then sign in, alone or as the second factor after the password. The first second factor of the account comes with recovery codes; sign-ins with the password then need a second factor. Ends the account’s other sessions and notifies the owner by mail.',
  isOpenBeforeEnrolment: true,
  needsRecentSignIn: true,
  body: { type: 'json', schema: NewPasskeyBody },
  success: { status: 201, description: 'The passkey', schema: AddedPasskey },
  errors: [
    'nickname_invalid',
    'passkey_invalid',
    'passkeys_unavailable',
    'passkey_limit_reached',
    'passkey_exists',
    'too_many_requests',
  ],
});

export const listPasskeys = route('listPasskeys', 'GET /auth/passkeys', {
  ...own,
  summary: 'List the account’s passkeys',
  description: 'Oldest first.',
  isOpenBeforeEnrolment: true,
  success: { status: 200, description: 'The passkeys', schema: PasskeyList },
});

export const renamePasskey = route('renamePasskey', 'PATCH /auth/passkeys/:id', {
  ...own,
  summary: 'Rename a passkey',
  params,
  body: { type: 'json', schema: PasskeyNameBody },
  success: { status: 204, description: 'The passkey has the name' },
  errors: ['nickname_invalid', 'passkey_not_found', 'too_many_requests'],
});

export const removePasskey = route('removePasskey', 'DELETE /auth/passkeys/:id', {
  ...own,
  summary: 'Remove a passkey',
  description:
    'Ends the account’s other sessions and notifies the owner by mail. Without another second factor, the recovery codes are removed as well, and a sign-in needs only the password; an account that must have a second factor keeps its last one.',
  needsRecentSignIn: true,
  params,
  isNarrowing: true,
  success: { status: 204, description: 'The passkey has been removed' },
  errors: ['passkey_not_found', 'second_factor_required_by_policy'],
});

export const passkeySignInOptions = route('passkeySignInOptions', 'POST /auth/passkeys/sign-in/options', {
  tag,
  summary: 'Start a sign-in with a passkey',
  description: `Returns the options for \`navigator.credentials.get()\` (\`PublicKeyCredential.parseRequestOptionsFromJSON()\`). They name no account and are valid for ${limits.passkeyChallengeSeconds / 60} minutes. Nothing is stored.`,
  auth: 'none',
  success: { status: 200, description: 'The options', schema: RequestOptions },
  errors: ['passkeys_unavailable'],
});

export const signInWithPasskey = route('signInWithPasskey', 'POST /auth/token/passkey', {
  tag,
  summary: 'Sign in with a passkey',
  description:
    'Starts a session. Alone, the passkey counts as both factors and needs user verification, such as a fingerprint or a PIN; the options are those of `POST /auth/passkeys/sign-in/options`. With email and password it is the second factor; the options are the member `passkey` of the error `second_factor_required`. The response is the same for an unknown passkey and a wrong signature.',
  auth: 'none',
  body: { type: 'json', schema: PasskeySignInBody },
  success: { status: 200, description: 'A new session’s tokens', schema: TokenPair },
  errors: ['passkey_rejected', 'invalid_credentials', 'passkeys_unavailable', 'too_many_attempts', 'overloaded'],
});

/** Of an account, except the sign-in. */
export const passkeyRoutes = [
  passkeyOptions,
  addPasskey,
  listPasskeys,
  renamePasskey,
  removePasskey,
  passkeySignInOptions,
] as const;
