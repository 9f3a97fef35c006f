/** The authentication schemes of the OpenAPI document and the reference page. */
import { limits } from './limits.ts';
import type { RouteAuth, RouteContract } from './route.ts';
import { oneTimePasswordHeader } from './second-factor.ts';

type Requirement = Readonly<Record<string, readonly never[]>>;

export const securitySchemes = {
  password: {
    type: 'http',
    scheme: 'basic',
    description: 'Email address and password of an account (RFC 7617, UTF-8; otherwise ISO-8859-1)',
  },
  oneTimePassword: {
    type: 'apiKey',
    in: 'header',
    name: oneTimePasswordHeader,
    description:
      'The current code of the second factor, or a recovery code, beside the password of an account that has a second factor',
  },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The `accessToken` of `POST /auth/token`',
  },
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key as a Bearer credential' },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key in its own header' },
  portalSecret: {
    type: 'http',
    scheme: 'bearer',
    description: 'The `secret` of `POST /auth/portal/session`',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-kr_s',
    description: 'The session cookie of the console; `kr_s` if the origin of the console is http',
  },
  apiKeyBasic: {
    type: 'http',
    scheme: 'basic',
    description: 'The id of an API key as the user name and the key as the password, for RFC 7662 clients',
  },
} as const;

const requirements: Readonly<Record<RouteAuth, readonly (keyof typeof securitySchemes)[][]>> = {
  none: [],
  password: [['password'], ['password', 'oneTimePassword']],
  access_token: [['accessToken']],
  administrator: [['accessToken']],
  one_time_code: [],
  refresh_token: [],
  service_key: [['apiKey'], ['apiKeyHeader']],
  manager: [['accessToken'], ['apiKey'], ['apiKeyHeader']],
  management_key: [['apiKey'], ['apiKeyHeader']],
  canary_credential: [['apiKey'], ['apiKeyHeader']],
  portal_session: [['portalSecret']],
  console_session: [['consoleSession']],
  console_sign_in: [],
  any_credential: [['accessToken'], ['apiKey'], ['apiKeyHeader']],
};

/** OpenAPI security requirements: a list of alternatives. All schemes of an alternative are required together. */
export function securityOf(route: RouteContract): Requirement[] {
  const alternatives = [...requirements[route.auth], ...(acceptsBasicKey(route) ? [['apiKeyBasic']] : [])];
  return alternatives.map((schemes) => Object.fromEntries(schemes.map((scheme) => [scheme, []])));
}

/** RFC 7662 clients send a form and authenticate with Basic. */
export const acceptsBasicKey = ({ auth, body }: RouteContract): boolean =>
  auth === 'service_key' && body?.type === 'form';

const callers: Readonly<Record<RouteAuth, string | undefined>> = {
  none: undefined,
  password: undefined,
  access_token: undefined,
  administrator: 'Requires an administrator’s access token.',
  one_time_code: 'The one-time code in the body is the credential.',
  refresh_token: 'The refresh token in the body is the credential.',
  service_key: 'Requires an API key with the scope `keyreeve:verify`.',
  manager: 'Requires an access token or a management key (an API key with the scope `keyreeve:keys`).',
  management_key: 'Requires a management key (an API key with the scope `keyreeve:keys`).',
  canary_credential: 'Requires the credential of `keyreeve prove-revocation credential`.',
  portal_session: 'Only for the key page: requires the secret of its portal session.',
  console_session: 'Only for the console: requires its session cookie, and a request from its own origin.',
  console_sign_in: 'Only for the console: requires a request from its own origin.',
  any_credential: undefined,
};

/** Requirements that OpenAPI's `security` cannot express, as sentences. */
export function requirementsInWords(route: RouteContract): string[] {
  const recent = `Requires a sign-in in the last ${limits.recentSignInSeconds / 60} minutes.`;
  return [callers[route.auth], route.needsRecentSignIn ? recent : undefined].filter((text) => text !== undefined);
}
