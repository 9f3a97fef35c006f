/**
 * The session of the console, the web application below `/console`. Its other requests go to the routes of accounts and
 * administrators, which the server also mounts below `/console/api`.
 */
import Type, { type Static } from 'typebox';
import { currentPasswordErrors } from './errors/groups.ts';
import { languages } from './language.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { AuthenticationResponse } from './passkey-messages.ts';
import { PasskeySignInBody } from './passkeys.ts';
import { route, type RouteContract } from './route.ts';
import { AccountId, Email, Instant, orNull, Password, Role, Text } from './schemas.ts';
import { SessionId } from './sessions.ts';

/** The request header that every request of the console has: `user` for a person's action, `background` for polling. */
export const consoleHeader = 'X-Keyreeve-Console';
/** Below it, the routes of accounts and administrators accept the cookie instead of an access token. */
export const consoleApiPath = '/console/api';

export const ConsoleFeatures = Named('ConsoleFeatures', {
  signUp: Type.Boolean({ description: 'Whether sign-up is open' }),
  mail: Type.Boolean({ description: 'Whether a mail server is configured' }),
  passkeys: Type.Boolean({ description: 'Whether people can sign in with passkeys' }),
  usageDays: Type.Integer({ minimum: 0, description: 'Days for which usage is kept; 0: not counted' }),
  keyDaysMax: Type.Integer({ minimum: 0, description: 'Longest lifetime of a new key in days; 0: no limit' }),
  passwordLengthMin: Type.Integer({ minimum: 1, description: 'Fewest characters of a new password' }),
  environments: Type.Array(Text('live'), { description: 'Empty if the installation has none' }),
  singleSignOn: orNull(Text('Example ID', 'The name of the OpenID provider; null without single sign-on')),
  docs: Type.Boolean({ description: 'Whether the service has its documentation at `/docs`' }),
  scopesCatalogue: Type.Boolean({ description: 'Whether keys may only have declared scopes' }),
  serviceAccounts: Type.Boolean({
    description: 'Whether the console shows service accounts also to people who are not administrators',
  }),
  managementKeys: Type.Boolean({ description: 'Whether administrators can create management keys' }),
});

export const ExampleRequest = Named(
  'ExampleRequest',
  { method: Text('GET'), url: Text('https://api.example.com/v1/orders') },
  { description: 'A request to the operator’s API with which people can try a key; null if none is configured' },
);

const Languages = Type.Enum([...languages], { examples: ['en'] });

export const ConsoleConfig = Named('ConsoleConfig', {
  product: Text('Example', 'The operator’s name'),
  features: ConsoleFeatures,
  needsAdministrator: Type.Boolean({ description: 'Whether the installation has no administrator yet' }),
  origin: Text('https://auth.example.com', 'Where people open the console'),
  publicUrl: Text('https://auth.example.com', 'Where clients exchange identity tokens'),
  verificationUrl: orNull(
    Text('https://auth.example.com', 'Where services verify credentials; null if only another listener does'),
  ),
  exampleRequest: orNull(ExampleRequest),
  mark: orNull(Text('/account/mark', 'Path of an image: the operator’s mark')),
  languages: Type.Array(Languages),
  now: Instant,
});
export type ConsoleConfig = Static<typeof ConsoleConfig>;

export const ConsoleAccount = Named('ConsoleAccount', {
  id: AccountId,
  email: Text('ada@example.com'),
  role: Role,
  language: orNull(Languages),
  secondFactor: Type.Boolean({ description: 'Whether a second factor is in force' }),
  mustEnrol: Type.Boolean({ description: 'Whether a second factor is required and missing' }),
});

export const ConsoleSession = Named('ConsoleSession', {
  id: SessionId,
  createdAt: Instant,
  authenticatedAt: Type.String({ ...Instant, description: 'The sign-in or the last confirmation' }),
  idleExpiresAt: Type.String({ ...Instant, description: 'When it ends without an action of the person' }),
  expiresAt: Type.String({ ...Instant, description: 'When it ends in any case' }),
});

export const SessionView = Named('ConsoleSessionView', {
  account: ConsoleAccount,
  session: ConsoleSession,
  now: Instant,
});
export type SessionView = Static<typeof SessionView>;

const code = Type.Optional(
  Type.String({
    maxLength: limits.oneTimePasswordCharsMax,
    description: 'The six digits of the second factor, or a recovery code; needed if the account has a second factor',
    examples: ['492039'],
  }),
);

export const ConsoleSignInBody = Named('ConsoleSignIn', {
  email: Email,
  password: Password,
  code,
});
export const ConsoleConfirmationBody = Named(
  'ConsoleConfirmation',
  { password: Type.Optional(Password), code, passkey: Type.Optional(AuthenticationResponse) },
  {
    description: 'Either `password`, with `code` if the account has a second factor, or `passkey`',
    examples: [{ password: 'wombat orbit velvet 42', code: '492039' }],
  },
);

const headers = Type.Object({
  [consoleHeader]: Type.Enum(['user', 'background'], {
    description:
      'Only scripts of the same origin can send it. `user`: an action of the person, which extends the session',
    examples: ['user'],
  }),
});
const cookie = { 'Set-Cookie': 'The cookie of the session: HttpOnly, SameSite=Strict' };
const tag = 'Console';

export const getConsoleConfig = route('getConsoleConfig', 'GET /console/config', {
  tag,
  summary: 'Get what the console shows before the sign-in',
  auth: 'none',
  success: { status: 200, description: 'The settings', schema: ConsoleConfig },
  errors: ['not_found'],
});

export const startConsoleSession = route('startConsoleSession', 'POST /console/session', {
  tag,
  summary: 'Sign in to the console',
  description:
    'For browsers: scripts use `POST /auth/token`. Both have the same rate limits. Starts a session whose credential is a cookie, and ends the session of the cookie that the request has. The response and its time are the same for a wrong email and a wrong password.',
  auth: 'console_sign_in',
  headers,
  body: { type: 'json', schema: ConsoleSignInBody },
  success: { status: 200, description: 'A new session', schema: SessionView, headers: cookie },
  errors: [
    'invalid_credentials',
    'second_factor_required',
    'second_factor_invalid',
    'ambiguous_credentials',
    'cross_origin_request',
    'not_found',
    'too_many_attempts',
    'overloaded',
  ],
});

export const startConsoleSessionWithPasskey = {
  ...startConsoleSession,
  id: 'startConsoleSessionWithPasskey',
  path: '/console/session/passkey',
  summary: 'Sign in to the console with a passkey',
  description:
    'As `POST /auth/token/passkey`, for browsers. Starts a session whose credential is a cookie, and ends the session of the cookie that the request has.',
  body: { type: 'json', schema: PasskeySignInBody },
  errors: [
    'passkey_rejected',
    'invalid_credentials',
    'ambiguous_credentials',
    'cross_origin_request',
    'passkeys_unavailable',
    'too_many_attempts',
    'overloaded',
  ],
} as const satisfies RouteContract;

export const getConsoleSession = route('getConsoleSession', 'GET /console/session', {
  tag,
  summary: 'Get the console’s session',
  description:
    'The console reads it when it opens, also without a session: a response with an error status would be an error in the log of the browser.',
  auth: 'console_sign_in',
  headers,
  success: { status: 200, description: 'The session; null without one', schema: orNull(SessionView) },
  errors: ['ambiguous_credentials', 'cross_origin_request', 'not_found'],
});

export const confirmConsoleSession = route('confirmConsoleSession', 'POST /console/session/confirm', {
  tag,
  summary: 'Confirm the password or a passkey within the console’s session',
  description: `For operations that require a sign-in in the last ${limits.recentSignInSeconds / 60} minutes. The cookie gets a new secret, and the server rejects the previous one from then on. The options for a passkey are those of \`POST /auth/passkeys/sign-in/options\`.`,
  auth: 'console_session',
  headers,
  body: { type: 'json', schema: ConsoleConfirmationBody },
  success: { status: 200, description: 'The session, with a new cookie', schema: SessionView, headers: cookie },
  errors: [
    ...currentPasswordErrors,
    'second_factor_required',
    'second_factor_wrong',
    'passkey_rejected',
    'passkeys_unavailable',
  ],
});

export const endConsoleSession = route('endConsoleSession', 'DELETE /console/session', {
  tag,
  summary: 'Sign out of the console',
  auth: 'console_session',
  headers,
  isNarrowing: true,
  success: {
    status: 204,
    description: 'The session has ended',
    headers: { 'Set-Cookie': 'Expires the cookie', 'Clear-Site-Data': '`"cache", "storage"`' },
  },
});

export const consoleRoutes: readonly RouteContract[] = [
  getConsoleConfig,
  startConsoleSession,
  startConsoleSessionWithPasskey,
  getConsoleSession,
  confirmConsoleSession,
  endConsoleSession,
];
