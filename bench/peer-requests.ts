/** What the peers are asked, each in its own way. */
import { blank, formRequest, jsonRequest, requestText, serial, type Pool, type RequestTemplate } from './request.ts';

/** What `peers/better-auth-seed.ts` prints. */
export interface BetterAuthSeeded {
  readonly keys: Pool;
  readonly emails: Pool;
  /** Records are whole Cookie headers. */
  readonly cookies: Pool;
  readonly password: string;
  readonly origin: string;
}

/** What `peers/oidc-provider-seed.ts` prints. */
export interface OidcSeeded {
  readonly tokens: Pool;
  /** Id and secret, with a colon between. */
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

/** With the hint that spares it a question. */
export const introspectRequest = ({ tokens, client }: OidcSeeded): RequestTemplate => ({
  text: formRequest(
    '/token/introspection',
    { Authorization: `Basic ${Buffer.from(client).toString('base64')}` },
    `token=${blank(tokens.recordBytes)}&token_type_hint=access_token`,
  ),
  pool: tokens,
  expected: '"active":true',
});
