/**
 * Single sign-on of administrators at an OpenID provider. The browser then returns to `/console/sso/callback`, which is a page
 * and no part of this contract.
 */
import Type from 'typebox';
import { startConsoleSession } from './console.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route, type RouteContract } from './route.ts';
import { Text } from './schemas.ts';

/** The redirect URI of the client at the provider, relative to the console's origin. */
export const singleSignOnCallbackPath = '/console/sso/callback';

export const SingleSignOnBody = Named('SingleSignOn', {
  returnTo: Type.Optional(
    Type.String({
      maxLength: limits.singleSignOnReturnPathCharsMax,
      pattern: '^/console(?:/[A-Za-z0-9_-]+)*$',
      description: 'The page to open afterwards',
      examples: ['/console/keys'],
    }),
  ),
  isConfirmation: Type.Optional(
    Type.Boolean({ description: 'Whether the provider must ask the person to sign in again', examples: [false] }),
  ),
});

export const SingleSignOnStart = Named('SingleSignOnStart', {
  location: Text('https://id.example.com/authorize?client_id=…', 'The page of the provider to open'),
});

/** Further parameters are ignored (OpenID Connect Back-Channel Logout 1.0, section 2.5). */
export const LogoutBody = Type.Object(
  {
    logout_token: Text('eyJhbGciOiJFUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ…', 'A JWT that the provider signed'),
  },
  { $id: 'BackChannelLogout' },
);

const tag = 'Console';

export const startSingleSignOn = route('startSingleSignOn', 'POST /console/sso/start', {
  tag,
  summary: 'Start a single sign-on to the console',
  description: `For browsers. Returns the page of the OpenID provider, and a cookie that is valid for ${limits.singleSignOnSeconds / 60} minutes and for one response of the provider. 404 unless single sign-on is configured.`,
  auth: 'console_sign_in',
  headers: startConsoleSession.headers,
  body: { type: 'json', schema: SingleSignOnBody },
  success: {
    status: 200,
    description: 'Where the sign-in continues',
    schema: SingleSignOnStart,
    headers: { 'Set-Cookie': 'The cookie of the sign-in: HttpOnly, SameSite=Lax' },
  },
  errors: ['ambiguous_credentials', 'cross_origin_request', 'not_found', 'identity_provider_unavailable'],
});

export const endSessionsOfProvider = route('endSessionsOfProvider', 'POST /console/sso/logout', {
  tag,
  summary: 'End sessions that the OpenID provider has ended',
  description:
    'OpenID Connect Back-Channel Logout 1.0. The provider calls it. Ends the sessions of the provider’s session (`sid`), or all that began with single sign-on of the person (`sub`). A repeated token ends none. A response with status 400 has the format of RFC 6749 section 5.2.',
  auth: 'none',
  isNarrowing: true,
  body: { type: 'form', schema: LogoutBody },
  success: { status: 200, description: 'The sessions have ended', headers: { 'Cache-Control': '`no-store`' } },
  errorFormat: 'oauth',
  errors: ['invalid_request', 'not_found', 'identity_provider_unavailable'],
});

export const singleSignOnRoutes: readonly RouteContract[] = [startSingleSignOn, endSessionsOfProvider];
