/** Passkeys (WebAuthn Level 3): registration, list, and sign-in. */
import Type, { type Static } from 'typebox';
import { accessTokenErrors } from './errors/groups.ts';
import { limits } from './limits.ts';
import { CreationOptions, RegistrationResponse, RequestOptions, AuthenticationResponse } from './passkey-messages.ts';
import type { RouteContract } from './route.ts';
import { Email, Instant, orNull, Password, Text } from './schemas.ts';
import { TokenPair } from './tokens.ts';

const PasskeyId = Text('pas_5Tz0pWc8hKq2RmY7LbX1Nd', 'Not a secret');

const Name = Type.String({
  minLength: 1,
  maxLength: limits.nicknameCodePointsMax,
  description: 'Shown in the list',
  examples: ['Ada’s phone'],
});

const strict = { additionalProperties: false } as const;

export const NewPasskeyBody = Type.Object(
  { name: Name, response: RegistrationResponse },
  {
    $id: 'NewPasskey',
    ...strict,
    description: '`response`: the result of `navigator.credentials.create()`, as its `toJSON()` returns it',
  },
);

export const PasskeyNameBody = Type.Object({ name: Name }, { $id: 'PasskeyName', ...strict });

export const PasskeySignInBody = Type.Object(
  {
    passkey: AuthenticationResponse,
    email: Type.Optional(Email),
    password: Type.Optional(Password),
  },
  {
    $id: 'PasskeySignIn',
    ...strict,
    description: 'With `email` and `password`, the passkey is the second factor. Without both, it is the only factor',
  },
);

export const Passkey = Type.Object(
  {
    id: PasskeyId,
    name: Text('Ada’s phone'),
    createdAt: Instant,
    lastUsedAt: orNull(Instant),
    synced: Type.Boolean({ description: 'Whether it is backed up, and so possibly on several devices' }),
    usable: Type.Boolean({
      description: 'False if it was created for another `KEYREEVE_PASSKEY_RP_ID`: browsers do not offer it',
    }),
    credentialId: Text('u1XkQ0mT8pLw', 'The id in WebAuthn, in base64url'),
  },
  { $id: 'Passkey', ...strict },
);
export type Passkey = Static<typeof Passkey>;

export const PasskeyList = Type.Object(
  {
    passkeys: Type.Array(Passkey),
    userHandle: Text('M3q1uRk9…', 'The account in WebAuthn (`user.id`), for `signalAllAcceptedCredentials()`'),
    rpId: orNull(Text('auth.example.com', 'Null: this installation has no passkeys')),
  },
  { $id: 'PasskeyList', ...strict },
);
export type PasskeyList = Static<typeof PasskeyList>;

export const AddedPasskey = Type.Object(
  {
    passkey: Passkey,
    recoveryCodes: Type.Array(Type.String(), {
      description:
        'Only with the account’s first second factor; otherwise empty. Each works once in place of a passkey',
      examples: [['7K2M-Q9XD-4RTB-0HVN-6WCE-P3JA']],
    }),
  },
  { $id: 'AddedPasskey', ...strict },
);
export type AddedPasskey = Static<typeof AddedPasskey>;

const tag = 'Passkeys';
const params = Type.Object({ id: PasskeyId });

export const passkeyOptions = {
  id: 'passkeyOptions',
  method: 'POST',
  path: '/auth/passkeys/options',
  tag,
  summary: 'Start to add a passkey',
  description: `Returns the options for \`navigator.credentials.create()\` (\`PublicKeyCredential.parseCreationOptionsFromJSON()\`). They are valid for ${limits.passkeyChallengeSeconds / 60} minutes, for this session. Nothing is stored.`,
  auth: 'access_token',
  isOpenBeforeEnrolment: true,
  needsRecentSignIn: true,
  success: { status: 200, description: 'The options', schema: CreationOptions },
  errors: [...accessTokenErrors, 'passkeys_unavailable', 'passkey_limit_reached'],
} as const satisfies RouteContract;

export const addPasskey = {
  id: 'addPasskey',
  method: 'POST',
  path: '/auth/passkeys',
  tag,
  summary: 'Add a passkey',
  description:
    'The passkey can then sign in, alone or as the second factor after the password. The first second factor of the account comes with recovery codes; sign-ins with the password then need a second factor. Ends the account’s other sessions and notifies the owner by mail.',
  auth: 'access_token',
  isOpenBeforeEnrolment: true,
  needsRecentSignIn: true,
  body: { type: 'json', schema: NewPasskeyBody },
  success: { status: 201, description: 'The passkey', schema: AddedPasskey },
  errors: [
    ...accessTokenErrors,
    'nickname_invalid',
    'passkey_invalid',
    'passkeys_unavailable',
    'passkey_limit_reached',
    'passkey_exists',
    'too_many_requests',
  ],
} as const satisfies RouteContract;

export const listPasskeys = {
  id: 'listPasskeys',
  method: 'GET',
  path: '/auth/passkeys',
  tag,
  summary: 'List the account’s passkeys',
  description: 'Oldest first.',
  auth: 'access_token',
  isOpenBeforeEnrolment: true,
  success: { status: 200, description: 'The passkeys', schema: PasskeyList },
  errors: accessTokenErrors,
} as const satisfies RouteContract;

export const renamePasskey = {
  id: 'renamePasskey',
  method: 'PATCH',
  path: '/auth/passkeys/:id',
  tag,
  summary: 'Rename a passkey',
  auth: 'access_token',
  params,
  body: { type: 'json', schema: PasskeyNameBody },
  success: { status: 204, description: 'The passkey has the name' },
  errors: [...accessTokenErrors, 'nickname_invalid', 'passkey_not_found', 'too_many_requests'],
} as const satisfies RouteContract;

export const removePasskey = {
  id: 'removePasskey',
  method: 'DELETE',
  path: '/auth/passkeys/:id',
  tag,
  summary: 'Remove a passkey',
  description:
    'Ends the account’s other sessions and notifies the owner by mail. Without another second factor, the recovery codes are removed as well, and a sign-in needs only the password; an account that must have a second factor keeps its last one.',
  auth: 'access_token',
  needsRecentSignIn: true,
  params,
  isNarrowing: true,
  success: { status: 204, description: 'The passkey has been removed' },
  errors: [...accessTokenErrors, 'passkey_not_found', 'second_factor_required_by_policy'],
} as const satisfies RouteContract;

export const passkeySignInOptions = {
  id: 'passkeySignInOptions',
  method: 'POST',
  path: '/auth/passkeys/sign-in/options',
  tag,
  summary: 'Start a sign-in with a passkey',
  description: `Returns the options for \`navigator.credentials.get()\` (\`PublicKeyCredential.parseRequestOptionsFromJSON()\`). They name no account and are valid for ${limits.passkeyChallengeSeconds / 60} minutes. Nothing is stored.`,
  auth: 'none',
  success: { status: 200, description: 'The options', schema: RequestOptions },
  errors: ['passkeys_unavailable'],
} as const satisfies RouteContract;

export const signInWithPasskey = {
  id: 'signInWithPasskey',
  method: 'POST',
  path: '/auth/token/passkey',
  tag,
  summary: 'Sign in with a passkey',
  description:
    'Starts a session. Alone, the passkey counts as both factors and needs user verification, such as a fingerprint or a PIN; the options are those of `POST /auth/passkeys/sign-in/options`. With email and password it is the second factor; the options are the member `passkey` of the error `second_factor_required`. The response is the same for an unknown passkey and a wrong signature.',
  auth: 'none',
  body: { type: 'json', schema: PasskeySignInBody },
  success: { status: 200, description: 'A new session’s tokens', schema: TokenPair },
  errors: ['passkey_rejected', 'invalid_credentials', 'passkeys_unavailable', 'too_many_attempts', 'overloaded'],
} as const satisfies RouteContract;

/** Of an account, except the sign-in. */
export const passkeyRoutes = [
  passkeyOptions,
  addPasskey,
  listPasskeys,
  renamePasskey,
  removePasskey,
  passkeySignInOptions,
] as const;
