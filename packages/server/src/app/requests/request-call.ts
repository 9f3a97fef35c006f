/**
 * The request as its handler receives it. Values from headers are computed when a handler reads them: verifications, the
 * most frequent requests, read none.
 */
import type { IncomingMessage } from 'node:http';
import { limits, type Language } from '@keyreeve/contract';
import type { ContentRequest } from '../../http/fixed-content.ts';
import { acceptedCodings, preferredLanguage, prefersPage } from '../../http/language.ts';
import type { AnyCaller, ServiceCaller } from '../../http/route.ts';
import { credentialOf, type RequestCredential } from '../../http/request-credential.ts';

/** The parts that were authenticated or validated. */
interface Parsed {
  readonly principal: AnyCaller | ServiceCaller | undefined;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** The type `Call` gives these members the types of the route. */
export class RequestCall {
  readonly principal: Parsed['principal'];
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly #request: IncomingMessage;
  readonly #clientIpOf: (request: IncomingMessage) => string;
  #clientIp: string | undefined;

  constructor(request: IncomingMessage, parsed: Parsed, clientIpOf: (request: IncomingMessage) => string) {
    this.principal = parsed.principal;
    this.params = parsed.params;
    this.query = parsed.query;
    this.body = parsed.body;
    this.#request = request;
    this.#clientIpOf = clientIpOf;
  }

  /** The same request of another caller. */
  as(principal: ServiceCaller): RequestCall {
    const { params, query, body } = this;
    return new RequestCall(this.#request, { principal, params, query, body }, this.#clientIpOf);
  }

  get credential(): RequestCredential {
    return credentialOf(this.#request.rawHeaders);
  }

  /** Kept, because a closed socket has no IP address. */
  get clientIp(): string {
    return (this.#clientIp ??= this.#clientIpOf(this.#request));
  }

  get userAgent(): string {
    return (this.#request.headers['user-agent'] ?? '').slice(0, limits.programCharsMax);
  }

  get prefersPage(): boolean {
    return prefersPage(this.#request.headers.accept);
  }

  get contentRequest(): ContentRequest {
    return {
      codings: acceptedCodings(headerOf(this.#request, 'accept-encoding')),
      ifNoneMatch: headerOf(this.#request, 'if-none-match'),
    };
  }

  get host(): string | undefined {
    return this.#request.headers.host;
  }

  get language(): Language | undefined {
    return preferredLanguage(this.#request.headers['accept-language']);
  }

  readonly header = (name: string): string | undefined => headerOf(this.#request, name);

  get oneTimePassword(): string | undefined {
    const otp = this.#request.headers['x-keyreeve-otp'];
    return typeof otp === 'string' ? otp : undefined;
  }
}

/** @returns undefined without the header */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const text = headers[name.toLowerCase()];
  return typeof text === 'string' ? text : undefined;
}
