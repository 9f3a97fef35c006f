/** HTTP routes of sign-in, sessions, published keys and discovery. */
import * as contract from '@keyreeve/contract';
import { Secret } from '../../foundation/crypto/secret.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { parseBasic } from '../../http/basic-authentication.ts';
import type { RequestCredential } from '../../http/request-credential.ts';
import { FixedContent, keepContent } from '../../http/fixed-content.ts';
import { route, type Route } from '../../http/route.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import type { TokenPairs } from './token-pairs.ts';

/** A malformed header is rejected like a wrong password. */
function basicOf(credential: RequestCredential) {
  const basic = credential.kind === 'basic' ? parseBasic(credential.header) : undefined;
  if (!basic) throw new DomainError('invalid_credentials');
  return basic;
}

/** @returns undefined if the passkey is the only factor @throws DomainError `invalid_request` for only one of both */
export function passwordOf({ email, password }: { email?: string | undefined; password?: string | undefined }) {
  if (email === undefined && password === undefined) return undefined;
  if (email !== undefined && password !== undefined) return { user: email, password: new Secret(password) };
  const pointer = email === undefined ? '/email' : '/password';
  throw invalidAt(pointer, 'Expected `email` and `password` together, or neither.');
}

export function tokenRoutes(tokens: TokenPairs): readonly Route[] {
  return [
    route(contract.issueTokens, async ({ credential, clientIp, userAgent, oneTimePassword }) => {
      const { user, password } = basicOf(credential);
      return {
        status: 200,
        body: await tokens.signIn(user, password, { clientIp, userAgent }, oneTimePassword),
      };
    }),
    route(contract.signInWithPasskey, async ({ body, clientIp, userAgent }) => {
      const client = { clientIp, userAgent };
      return { status: 200, body: await tokens.signInWithPasskey(body.passkey, client, passwordOf(body)) };
    }),
    route(contract.refreshTokens, async ({ body: { refreshToken } }) => ({
      status: 200,
      body: await tokens.refresh(refreshToken),
      onLost: () => tokens.recordLostRefresh(refreshToken),
    })),
    route(contract.revokeTokens, async ({ body }) => {
      await tokens.signOut(body.refreshToken);
      return { status: 204 };
    }),
  ];
}

export function sessionRoutes(tokens: TokenPairs): readonly Route[] {
  return [
    route(contract.listSessions, async ({ principal }) => ({
      status: 200,
      body: { sessions: await tokens.listSessions(principal) },
    })),
    route(contract.endSession, async ({ principal, params }) => {
      await tokens.endSession(principal, params.id);
      return { status: 204 };
    }),
    route(contract.endOtherSessions, async ({ principal }) => ({
      status: 200,
      body: { ended: await tokens.endOtherSessions(principal) },
    })),
  ];
}

/** @param issuer the public URL @param has whether the documentation is on, and the console, in which people approve programs */
export function discoveryRoutes(
  signingKeys: SigningKeys,
  issuer: string,
  has: { readonly docs: boolean; readonly console: boolean },
): readonly Route[] {
  const cacheControl = contract.discoveryCacheControl;
  const metadata: contract.Metadata = {
    issuer,
    token_endpoint: `${issuer}${contract.exchangeAssertion.path}`,
    // `none`: an assertion is the only credential, and a program on a device has none.
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    ...(has.console && {
      device_authorization_endpoint: `${issuer}${contract.requestDeviceAuthorization.path}`,
    }),
    revocation_endpoint: `${issuer}${contract.revokeToken.path}`,
    revocation_endpoint_auth_methods_supported: ['none'],
    jwks_uri: `${issuer}${contract.getJwks.path}`,
    introspection_endpoint: `${issuer}${contract.introspect.path}`,
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    // Empty, because there is no authorization endpoint. RFC 8414 requires the field.
    response_types_supported: [],
    grant_types_supported: [
      contract.clientCredentialsGrant,
      contract.jwtBearerGrant,
      contract.tokenExchangeGrant,
      ...(has.console ? [contract.deviceCodeGrant] : []),
    ],
    ...(has.docs && { service_documentation: issuer + contract.docsPath }),
  };
  const keep = keepContent('application/json; charset=utf-8');
  const discovery = new FixedContent('application/json; charset=utf-8', JSON.stringify(metadata));
  return [
    route(contract.getJwks, async ({ contentRequest }) =>
      keep(JSON.stringify(await signingKeys.jwks())).respond(contentRequest, { cacheControl }),
    ),
    route(contract.getMetadata, ({ contentRequest }) => discovery.respond(contentRequest, { cacheControl })),
  ];
}
