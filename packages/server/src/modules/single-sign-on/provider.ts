/**
 * The OpenID provider: its configuration (OpenID Connect Discovery 1.0), the authorization request, and the exchange of the
 * code for an ID token (OpenID Connect Core 1.0, section 3.1). The only file that uses the OpenID library, which is loaded at
 * the first single sign-on.
 */
import type { Configuration, IDToken } from 'openid-client';
import { limits } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { lazily } from '../../foundation/lazy-modules.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { authenticationsFor, basicWithoutEncoding, type ClientAuthentication } from './client-authentication.ts';
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

const load = lazily(() => import('openid-client'));

/** The same configuration with each way to authenticate the client, in the order to try them. */
type Configurations = ReadonlyMap<ClientAuthentication, Configuration>;

const retryMs = limits.identityProviderRetrySeconds * 1000;
const refreshMs = limits.identityProviderRefreshSeconds * 1000;

export class Provider {
  readonly #options: ProviderOptions;
  #configurations: Promise<Configurations> | undefined;
  #readAgainMs = 0;
  /** The way that the provider accepted last. */
  #accepted: ClientAuthentication | undefined;

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
    const url = buildAuthorizationUrl(firstOf(await this.#configured()), {
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
    const url = new URL(this.#options.redirectUri);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, value);
    try {
      const claims = await this.#redeemAt(url, request);
      if (!claims) throw new Error('the response has no ID token');
      return claims;
    } catch (error) {
      throw await failureOf(error);
    }
  }

  /** While the provider rejects the client, the code is unused, so another way to authenticate can redeem it. */
  async #redeemAt(url: URL, request: AuthorizationRequest): Promise<IDToken | undefined> {
    const { authorizationCodeGrant } = await load();
    const configurations = await this.#configured();
    const ways = [...configurations.keys()].toSorted(
      (a, b) => Number(b === this.#accepted) - Number(a === this.#accepted),
    );
    const rejections: unknown[] = [];
    for (const way of ways) {
      const configuration = configurations.get(way);
      if (!configuration) continue;
      try {
        const tokens = await authorizationCodeGrant(configuration, url, {
          expectedState: request.state,
          expectedNonce: request.nonce,
          pkceCodeVerifier: request.verifier,
          idTokenExpected: true,
          ...(request.isConfirmation ? { maxAge: limits.recentSignInSeconds } : {}),
        });
        this.#accepted = way;
        return tokens.claims();
      } catch (error) {
        rejections.push(error);
        if (!(await isRejectionOfClient(error))) break;
      }
    }
    // The first rejection is that of the way that the standard requires, or that the provider accepted before.
    const last = rejections.at(-1);
    throw (await isRejectionOfClient(last)) ? rejections[0] : last;
  }

  /** The URL of the provider's public keys. @throws DomainError `identity_provider_unavailable` */
  async keysUrl(): Promise<URL> {
    const { jwks_uri: url } = firstOf(await this.#configured()).serverMetadata();
    if (url === undefined) throw unavailable(new Error('the configuration of the provider has no jwks_uri'));
    return new URL(url);
  }

  /** Requests that arrive together share one read. A failure is kept for seconds, an earlier configuration until the next one. */
  #configured(): Promise<Configurations> {
    const now = monotonicMs();
    if (this.#configurations && now < this.#readAgainMs) return this.#configurations;
    const earlier = this.#configurations;
    this.#readAgainMs = now + refreshMs;
    this.#configurations = this.#discover().catch((error: unknown) => {
      this.#readAgainMs = now + retryMs;
      if (!earlier) throw error;
      return earlier;
    });
    return this.#configurations;
  }

  async #discover(): Promise<Configurations> {
    const { issuer, clientId, clientSecret } = this.#options;
    const oidc = await load();
    const isHttp = issuer.startsWith('http:');
    // Verifies the signature of the ID token, which OpenID Connect leaves optional in this flow.
    const execute = [oidc.enableNonRepudiationChecks, ...(isHttp ? [oidc.allowInsecureRequests] : [])];
    const bounded = (url: string, options: ProviderRequest): Promise<Response> => boundedFetch(url, options);
    const authenticationsWith = (secret: string) => ({
      client_secret_basic: oidc.ClientSecretBasic(secret),
      basic_without_encoding: basicWithoutEncoding({ clientId, clientSecret: secret }),
      client_secret_post: oidc.ClientSecretPost(secret),
    });
    try {
      const options = { execute, [oidc.customFetch]: bounded };
      const discovered = await oidc.discovery(new URL(issuer), clientId, {}, oidc.None(), options);
      const server = discovered.serverMetadata();
      if (server.issuer !== issuer) throw new Error(`the provider states the issuer ${server.issuer}, not ${issuer}`);
      const ways = authenticationsFor(server.token_endpoint_auth_methods_supported, {
        clientId,
        clientSecret: clientSecret(),
      });
      return new Map(
        ways.map((way) => {
          const configuration = new oidc.Configuration(server, clientId, {}, (...request) =>
            authenticationsWith(clientSecret())[way](...request),
          );
          configuration[oidc.customFetch] = bounded;
          for (const extend of execute) extend(configuration);
          return [way, configuration] as const;
        }),
      );
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function firstOf(configurations: Configurations): Configuration {
  const [first] = configurations.values();
  if (!first) throw new Error('there is no way to authenticate the client');
  return first;
}

/** The texts of RFC 6749, section 5.2, that providers return for credentials in a form that they do not accept. */
const rejectionsOfClient = ['invalid_client', 'unauthorized_client', 'invalid_request'];

async function isRejectionOfClient(error: unknown): Promise<boolean> {
  const { ResponseBodyError } = await load();
  return error instanceof ResponseBodyError ? rejectionsOfClient.includes(error.error) : isUnauthorized(error);
}

/** A response with the status 401, also one that is not JSON or has a challenge. */
async function isUnauthorized(error: unknown): Promise<boolean> {
  const { WWWAuthenticateChallengeError } = await load();
  for (let cause = error; cause !== undefined; cause = cause instanceof Error ? cause.cause : undefined) {
    if (cause instanceof WWWAuthenticateChallengeError) return cause.status === 401;
    if (cause instanceof Response) return cause.status === 401;
  }
  return false;
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
  if (await isUnauthorized(error)) return unavailable(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DomainError) return cause;
  return new Refusal('rejected', { cause: error });
}
