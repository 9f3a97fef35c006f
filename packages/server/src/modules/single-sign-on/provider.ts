/**
 * The OpenID provider: its configuration (OpenID Connect Discovery 1.0), the authorization request, and the exchange of the
 * code for an ID token (OpenID Connect Core 1.0, section 3.1). The only file that uses the OpenID library, which is loaded at
 * the first single sign-on.
 */
import type { Configuration, IDToken } from 'openid-client';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { boundedFetch, unavailable, type ProviderRequest } from './bounded-fetch.ts';
import { Refusal } from './refusal.ts';

export interface ProviderOptions {
  /** As the provider states it, character for character. */
  readonly issuer: string;
  readonly clientId: string;
  /** For each request, because it can change. */
  readonly clientSecret: () => string;
  /** At the console's origin. */
  readonly redirectUri: string;
  /** Separated by spaces. */
  readonly scope: string;
}

const loadLibrary = () => import('openid-client');
let library: ReturnType<typeof loadLibrary> | undefined;
/** A failed import is not kept: the next sign-in tries again. */
const load = (): ReturnType<typeof loadLibrary> =>
  (library ??= loadLibrary().catch((error: unknown) => {
    library = undefined;
    throw error;
  }));

const retryMs = limits.identityProviderRetrySeconds * 1000;
const refreshMs = limits.identityProviderRefreshSeconds * 1000;

export class Provider {
  readonly #options: ProviderOptions;
  #configuration: Promise<Configuration> | undefined;
  #readAgainMs = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  get clientId(): string {
    return this.#options.clientId;
  }

  /** @throws DomainError `identity_provider_unavailable` */
  async authorizationUrl({ state, nonce, verifier, isConfirmation }: AuthorizationRequest): Promise<string> {
    const { redirectUri, scope } = this.#options;
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await load();
    const url = buildAuthorizationUrl(await this.#configured(), {
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(isConfirmation ? { prompt: 'login', max_age: String(limits.recentSignInSeconds) } : {}),
    });
    return url.href;
  }

  /**
   * Exchanges the code of the provider's response for an ID token. The library checks `state`, `iss` of the response (RFC
   * 9207), and of the ID token the signature by an asymmetric key, `iss`, `aud`, `azp`, `nonce`, `exp`, `iat` and, for a
   * confirmation, `auth_time`.
   * @param parameters of the response
   * @throws Refusal, DomainError `identity_provider_unavailable`
   */
  async redeem(parameters: Readonly<Record<string, string>>, request: AuthorizationRequest): Promise<IDToken> {
    const { authorizationCodeGrant } = await load();
    const configuration = await this.#configured();
    const url = new URL(this.#options.redirectUri);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, value);
    try {
      const tokens = await authorizationCodeGrant(configuration, url, {
        expectedState: request.state,
        expectedNonce: request.nonce,
        pkceCodeVerifier: request.verifier,
        idTokenExpected: true,
        ...(request.isConfirmation ? { maxAge: limits.recentSignInSeconds } : {}),
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('the response has no ID token');
      return claims;
    } catch (error) {
      throw await failureOf(error);
    }
  }

  /** The URL of the provider's public keys. @throws DomainError `identity_provider_unavailable` */
  async keysUrl(): Promise<URL> {
    const { jwks_uri: url } = (await this.#configured()).serverMetadata();
    if (url === undefined) throw unavailable(new Error('the configuration of the provider has no jwks_uri'));
    return new URL(url);
  }

  /** Requests that arrive together share one read. A failure is kept for seconds, an earlier configuration until the next one. */
  #configured(): Promise<Configuration> {
    const now = monotonicMs();
    if (this.#configuration && now < this.#readAgainMs) return this.#configuration;
    const earlier = this.#configuration;
    this.#readAgainMs = now + refreshMs;
    this.#configuration = this.#discover().catch((error: unknown) => {
      this.#readAgainMs = now + retryMs;
      if (!earlier) throw error;
      return earlier;
    });
    return this.#configuration;
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const oidc = await load();
    const isHttp = issuer.startsWith('http:');
    const execute = [oidc.enableNonRepudiationChecks, ...(isHttp ? [oidc.allowInsecureRequests] : [])];
    const authenticate = (method: 'ClientSecretBasic' | 'ClientSecretPost') => oidc[method](clientSecret());
    try {
      const configuration = await oidc.discovery(
        new URL(issuer),
        clientId,
        {},
        (server, client, body, headers) => {
          // OpenID Connect Discovery 1.0, section 3: without the member, client_secret_basic.
          const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
          const method = methods.includes('client_secret_basic') ? 'ClientSecretBasic' : 'ClientSecretPost';
          return authenticate(method)(server, client, body, headers);
        },
        { execute, [oidc.customFetch]: (url: string, options: ProviderRequest) => boundedFetch(url, options) },
      );
      const { issuer: stated } = configuration.serverMetadata();
      if (stated !== issuer) throw new Error(`the provider states the issuer ${stated}, not ${issuer}`);
      return configuration;
    } catch (error) {
      throw unavailable(error);
    }
  }
}

/** RFC 6749, section 5.2: the configuration does not match. No response of a browser causes them. */
const errorsOfClient = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

/** @returns a refusal for a response that is not valid; otherwise, the provider failed or rejects the client */
async function failureOf(error: unknown): Promise<DomainError> {
  const { AuthorizationResponseError, ResponseBodyError } = await load();
  if (error instanceof AuthorizationResponseError)
    return new Refusal('cancelled', { shown: error.error, cause: error });
  // Providers return different errors for a code that is not theirs.
  if (error instanceof ResponseBodyError)
    return errorsOfClient.includes(error.error) ? unavailable(error) : new Refusal('rejected', { cause: error });
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DomainError) return cause;
  return new Refusal('rejected', { cause: error });
}
