/**
 * What a browser keeps between the start of a single sign-on and the response of the provider: a cookie with a random value,
 * the time and a MAC. `state`, `nonce` and the PKCE verifier (RFC 7636) are derived from the random value with a key of the
 * installation. So the server stores nothing before a response, any instance can process it, and the cookie alone discloses
 * none of the three.
 *
 * The cookie is `SameSite=Lax`: the response is a navigation from the provider's site. Nothing else accepts it.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { cookieValues } from '../console/cookie.ts';

const randomValueBytes = 32;
const validMs = limits.singleSignOnSeconds * 1000;

/** The page and the session of the browser that starts a single sign-on. */
export interface Origin {
  /** The path of the page to open afterwards. */
  readonly returnTo: string;
  /** Whether the provider must ask the person to sign in again. */
  readonly isConfirmation: boolean;
  /** The session that the sign-in replaces; null for none. */
  readonly replaced: { readonly accountId: string; readonly sessionId: string } | null;
}

export interface AuthorizationRequest extends Origin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Identifies the request when it has been used. */
  readonly mac: Buffer;
  /** In milliseconds. */
  readonly expiresAt: number;
}

/** The authenticated content of the cookie. */
interface Kept extends Origin {
  readonly value: string;
  readonly at: number;
}

export class AuthorizationRequests {
  readonly #hash: KeyedHash;
  readonly #name: string;
  readonly #attributes: string;

  /** @param origin of the console */
  constructor(hash: KeyedHash, origin: string) {
    const isHttps = origin.startsWith('https:');
    this.#hash = hash;
    this.#name = isHttps ? '__Host-kr_o' : 'kr_o';
    this.#attributes = `Path=/;${isHttps ? ' Secure;' : ''} HttpOnly; SameSite=Lax`;
  }

  /** @param now milliseconds @returns the request, and a value of Set-Cookie */
  make(origin: Origin, now: number): { readonly request: AuthorizationRequest; readonly cookie: string } {
    const kept: Kept = { ...origin, value: randomBytes(randomValueBytes).toString('base64url'), at: now };
    const content = Buffer.from(JSON.stringify(kept)).toString('base64url');
    const mac = this.#macOf(content);
    const text = `${content}.${mac.toString('base64url')}`;
    const cookie = `${this.#name}=${text}; ${this.#attributes}; Max-Age=${limits.singleSignOnSeconds}`;
    return { request: this.#requestOf(kept, mac), cookie };
  }

  /**
   * @param field the header Cookie
   * @returns undefined without exactly one cookie that is authentic and valid
   */
  read(field: string | undefined, now: number): AuthorizationRequest | undefined {
    const [text = '', ...others] = cookieValues(field ?? '', this.#name);
    const [content = '', macText = '', ...rest] = text.split('.');
    if (others.length > 0 || rest.length > 0) return undefined;
    const [mac, presented] = [this.#macOf(content), Buffer.from(macText, 'base64url')];
    if (presented.length !== mac.length || !timingSafeEqual(presented, mac)) return undefined;
    const kept = JSON.parse(Buffer.from(content, 'base64url').toString('utf8')) as Kept;
    // The clock of the instance that made it may be ahead.
    return Math.abs(now - kept.at) > validMs ? undefined : this.#requestOf(kept, mac);
  }

  /** A value of Set-Cookie that deletes the cookie. */
  get expired(): string {
    return `${this.#name}=; ${this.#attributes}; Max-Age=0`;
  }

  #requestOf({ value, at, returnTo, isConfirmation, replaced }: Kept, mac: Buffer): AuthorizationRequest {
    // 43 characters each.
    const derive = (purpose: string): string => this.#hash.mac(JSON.stringify([purpose, value])).toString('base64url');
    return {
      returnTo,
      isConfirmation,
      replaced,
      state: derive('state'),
      nonce: derive('nonce'),
      verifier: derive('verifier'),
      mac,
      expiresAt: at + validMs,
    };
  }

  #macOf(content: string): Buffer {
    return this.#hash.mac(JSON.stringify(['authorization request', content]));
  }
}
