/** The requests to the peers. */
import { blank, formRequest, jsonRequest, requestText, serial, type Pool, type RequestTemplate } from './request.ts';

/** The output of `peers/better-auth-seed.ts`. */
export interface BetterAuthSeeded {
  readonly keys: Pool;
  readonly emails: Pool;
  /** Each record is a complete Cookie header. */
  readonly cookies: Pool;
  readonly password: string;
  readonly origin: string;
}

/** The output of `peers/oidc-provider-seed.ts`. */
export interface OidcSeeded {
  readonly tokens: Pool;
  /** The credentials of the client: `id:secret`. */
  readonly client: string;
}

export const verifyRequest = ({ keys }: BetterAuthSeeded): RequestTemplate => ({
  text: requestText({
    method: 'GET',
    path: '/verify',
    headers: { Authorization: `Bearer ${blank(keys.recordBytes)}` },
  }),
  pool: keys,
  expected: '"valid":true',
});

export const signInRequest = ({ emails, password, origin }: BetterAuthSeeded): RequestTemplate => ({
  text: jsonRequest('/api/auth/sign-in/email', { Origin: origin }, { email: blank(emails.recordBytes), password }),
  pool: emails,
  expected: '"token"',
});

export const createRequest = ({ cookies, origin }: BetterAuthSeeded): RequestTemplate => ({
  text: jsonRequest(
    '/api/auth/api-key/create',
    { Origin: origin, Cookie: blank(cookies.recordBytes) },
    { name: `bench ${serial}` },
  ),
  pool: cookies,
  expected: '"key"',
});

/** Has a type hint, which saves the peer a query. */
export const introspectRequest = ({ tokens, client }: OidcSeeded): RequestTemplate => ({
  text: formRequest(
    '/token/introspection',
    { Authorization: `Basic ${Buffer.from(client).toString('base64')}` },
    `token=${blank(tokens.recordBytes)}&token_type_hint=access_token`,
  ),
  pool: tokens,
  expected: '"active":true',
});
