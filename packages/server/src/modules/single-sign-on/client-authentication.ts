/**
 * Authentication of the client at the provider's token endpoint (RFC 6749, section 2.3.1). The form-encoding of Basic credentials is
 * often forgotten: some providers compare the encoded text, and some accept the credentials in the body only, whatever they state.
 */
import type { ClientAuth } from 'openid-client';

/** `client_secret_basic` form-encodes both parts, as the RFC requires; `basic_without_encoding` does not. */
export type ClientAuthentication = 'client_secret_basic' | 'basic_without_encoding' | 'client_secret_post';

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * @param stated `token_endpoint_auth_methods_supported` of the provider
 * @returns the ways to try, in order. The last one is only for a provider that states it, or states nothing.
 */
export function authenticationsFor(
  stated: readonly string[] | undefined,
  { clientId, clientSecret }: ClientCredentials,
): readonly [ClientAuthentication, ...ClientAuthentication[]] {
  // OpenID Connect Discovery 1.0, section 3: without the member, client_secret_basic.
  if (stated && !stated.includes('client_secret_basic')) return ['client_secret_post'];
  const isSame = [clientId, clientSecret].every((text) => formEncoded(text) === text);
  return [
    'client_secret_basic',
    ...(isSame ? [] : (['basic_without_encoding'] as const)),
    ...(stated && !stated.includes('client_secret_post') ? [] : (['client_secret_post'] as const)),
  ];
}

/** Basic credentials as a provider expects them that does not form-decode them (RFC 7617, with UTF-8). */
export const basicWithoutEncoding =
  ({ clientId, clientSecret }: ClientCredentials): ClientAuth =>
  (_server, _client, _body, headers) =>
    headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`);

/** application/x-www-form-urlencoded, which RFC 6749 refers to. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
