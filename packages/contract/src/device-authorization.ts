/** The sign-in of a program on a device without a browser (RFC 8628), which ends with an API key, and its sign-out (RFC 7009). */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { keyExample, Text } from './schemas.ts';

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 section 3.5. */
export const deviceErrors = ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'] as const;

/** The letters of user codes: no vowels, which could form words, and no letters that look like others. */
export const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
export const userCodeLength = 8;

/** Further parameters are ignored (RFC 6749 section 3.2). */
export const DeviceAuthorizationBody = Type.Object(
  {
    client_id: Text('acme-cli', 'The id of the program'),
    scope: Type.Optional(Text('orders:read', 'Separated by spaces. Default: all scopes of the program')),
  },
  { $id: 'DeviceAuthorizationRequest' },
);

/** RFC 8628 section 3.2. */
export const DeviceAuthorization = Named('DeviceAuthorization', {
  device_code: Text('krvd_7pQw3nZk…', 'For the polls of the program. It is a secret'),
  user_code: Text('WDJB-MJHT', 'The program shows it. Case and separators do not matter'),
  verification_uri: Text('https://auth.example.com/console/device', 'The page on which the person enters the code'),
  verification_uri_complete: Text(
    'https://auth.example.com/console/device#WDJB-MJHT',
    'The same with the code, which the person compares and confirms',
  ),
  expires_in: Type.Integer({ description: 'Seconds', examples: [limits.deviceRequestSeconds] }),
  interval: Type.Integer({ description: 'Seconds between two polls', examples: [limits.deviceIntervalSeconds] }),
});
export type DeviceAuthorization = Static<typeof DeviceAuthorization>;

/** Members of the response of the token endpoint for a device code, besides those of every grant. */
export const deviceKeyMembers = {
  scope: Type.Optional(Text('orders:read', 'Of a device code: the scopes of the API key')),
  key_id: Type.Optional(
    Type.Integer({ description: 'Of a device code: the id of the API key', examples: [4830184710273911] }),
  ),
  nickname: Type.Optional(Text('Acme CLI', 'Of a device code: the nickname of the API key')),
};

/** The successful response to a poll. `access_token` is an API key. */
export const DeviceKey = Named('DeviceKey', {
  access_token: Text(keyExample, 'The API key. No other response has it'),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds', examples: [limits.programLifetimeSeconds] }),
  scope: Text('orders:read', 'Separated by spaces'),
  key_id: Type.Integer({ examples: [4830184710273911] }),
  nickname: Text('Acme CLI'),
});
export type DeviceKey = Static<typeof DeviceKey>;

export const requestDeviceAuthorization = route('requestDeviceAuthorization', 'POST /auth/oauth/device', {
  tag: 'API keys',
  summary: 'Start the sign-in of a program',
  description:
    'RFC 8628 section 3.1, for programs that an operator has declared. The program shows the code and the link, and polls `POST /auth/oauth/token` with `device_code` and `client_id`. When a person has approved the request, the `access_token` of the response is an API key. A response with status 400 has the format of RFC 6749 section 5.2.',
  auth: 'none',
  headers: Type.Object({
    Origin: Type.Optional(
      Text('https://app.example.com', 'Of a web page, which an operator must have listed in `KEYREEVE_CORS_ORIGINS`'),
    ),
    'Sec-Fetch-Site': Type.Optional(Text('cross-site', 'Of a browser, whose other pages are rejected')),
  }),
  body: { type: 'form', schema: DeviceAuthorizationBody, bytesMax: limits.exchangeBodyBytesMax },
  success: {
    status: 200,
    description: 'A device code and a user code, which are in no other response',
    schema: DeviceAuthorization,
    headers: { 'Cache-Control': '`no-store`', Pragma: '`no-cache`' },
  },
  errorFormat: 'oauth',
  errors: ['invalid_request', 'invalid_client', 'invalid_scope', 'too_many_device_requests'],
});

/** `token_type_hint` and further parameters are ignored (RFC 7009 section 2.1). */
export const RevocationBody = Type.Object(
  {
    client_id: Text('acme-cli', 'The id of the program that made the key'),
    token: Text(keyExample, 'The API key'),
  },
  { $id: 'RevocationRequest' },
);

export const revokeToken = route('revokeToken', 'POST /auth/oauth/revoke', {
  tag: 'API keys',
  summary: 'Sign out a program',
  description:
    'RFC 7009. Deletes the API key that the program made, also a disabled or expired one. A response with status 200 has no content: after it, every verification rejects the key. An unknown key gets the same response. A response with status 400 or 401 has the format of RFC 6749 section 5.2. After a 503, the service repeats the deletion; until then, it answers 503 for the key.',
  auth: 'none',
  body: { type: 'form', schema: RevocationBody, bytesMax: limits.exchangeBodyBytesMax },
  success: { status: 200, description: 'No key has this secret', headers: { 'Cache-Control': '`no-store`' } },
  errorFormat: 'oauth',
  errors: ['invalid_request', 'invalid_client', 'invalid_grant', 'unsupported_token_type'],
});
