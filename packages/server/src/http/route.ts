/** A route of the service: its contract and its handler. Handlers use no types of `node:http`. */
import type { ContentRequest } from './fixed-content.ts';
import type { Static, TSchema } from 'typebox';
import type { Language, RouteContract } from '@keyreeve/contract';
import type { Pending } from '../foundation/pending.ts';
import type {
  AccountPrincipal,
  CanaryPrincipal,
  ConsolePrincipal,
  KeyPrincipal,
  PortalPrincipal,
} from '../foundation/principal.ts';
import type { RouteResponse } from './response.ts';
import type { RequestCredential } from './request-credential.ts';

type Value<S> = S extends TSchema ? Static<S> : undefined;
type BodyOf<C extends RouteContract> = C extends { body: { type: 'raw' } }
  ? Uint8Array
  : C extends { body: { schema: infer S } }
    ? Value<S>
    : undefined;
type QueryOf<C extends RouteContract> = C extends { query: infer S } ? Value<S> : undefined;
/** Text from the path. The handler parses it, and a malformed id is not found (404). */
type ParamsOf<C extends RouteContract> = C extends { params: infer S }
  ? Readonly<Record<keyof Value<S>, string>>
  : undefined;
type HeaderNameOf<C extends RouteContract> = C extends { headers: infer S } ? keyof Value<S> & string : never;
type PrincipalOf<C extends RouteContract> = C extends { auth: 'access_token' | 'administrator' }
  ? AccountPrincipal
  : C extends { auth: 'manager' }
    ? Caller
    : C extends { auth: 'management_key' }
      ? KeyPrincipal
      : C extends { auth: 'canary_credential' }
        ? CanaryPrincipal
        : C extends { auth: 'portal_session' }
          ? PortalPrincipal
          : C extends { auth: 'service_key' }
            ? ServiceCaller
            : C extends { auth: 'console_session' }
              ? ConsolePrincipal
              : C extends { auth: 'console_sign_in' }
                ? // The session that the sign-in replaces, if the request has one.
                  ConsolePrincipal | undefined
                : undefined;

/** A principal that can manage service accounts. */
export type Caller = AccountPrincipal | KeyPrincipal;
/**
 * The caller of a verification: failed for a client without a valid key, known without a value for a caller that may verify
 * all credentials. It may be pending when the handler starts, which then only reads.
 */
export type ServiceCaller = Pending<CanaryPrincipal | undefined>;
/** A principal that a request can have. */
export type AnyCaller = Caller | CanaryPrincipal | PortalPrincipal;

/** The validated parts of a request, which are all that a handler gets. */
export interface Call<C extends RouteContract = RouteContract> {
  readonly principal: PrincipalOf<C>;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  /** For the routes that authenticate the client themselves. */
  readonly credential: RequestCredential;
  /** The nearest IP address that is not a trusted proxy. */
  readonly clientIp: string;
  /** Truncated; empty without a User-Agent header. */
  readonly userAgent: string;
  /** The supported language that Accept-Language prefers, if any. */
  readonly language: Language | undefined;
  /** Whether the client names text/html before JSON in Accept, as a browser does. */
  readonly prefersPage: boolean;
  /** For content that is the same for every client. */
  readonly contentRequest: ContentRequest;
  /** The header Host, as the client or the proxy sent it. */
  readonly host: string | undefined;
  /** @returns the text of a header of the contract, undefined if the request does not have it */
  readonly header: (name: HeaderNameOf<C>) => string | undefined;
  /** The header X-Keyreeve-OTP. */
  readonly oneTimePassword: string | undefined;
}

export interface Route {
  /** A path that ends with `/*` is that of all paths below it which no other route has. */
  readonly contract: RouteContract;
  readonly handle: (call: Call) => Promise<RouteResponse>;
  /** Checks headers before the server reads the body. Throws DomainError. */
  readonly checkHeaders?: CheckHeaders | undefined;
  /** For a path that ends with `/*`: whether the route has this path. Default: it has all. */
  readonly covers?: (path: string) => boolean;
  /** Whether its credential is the session cookie of the console, not that of the contract. */
  readonly isMirrored?: boolean;
}

type CheckHeaders = (header: Call['header']) => void;

/** Gives a handler the types of its contract. The server validates the call before the handler runs. */
export function route<C extends RouteContract>(
  contract: C,
  handle: (call: Call<C>) => Promise<RouteResponse>,
  checkHeaders?: (header: Call<C>['header']) => void,
): Route {
  return { contract, handle, checkHeaders };
}
