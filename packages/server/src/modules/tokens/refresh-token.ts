/**
 * Refresh tokens. A token contains its session and its generation, and a proof of both:
 *
 *     krvr_ base62( session (16 bytes) | generation (4) | secret (32) | proof (16) ) checksum
 *
 * - `proof` is a MAC over the other parts. So the server recognises tokens of older generations without storing them, and
 *   rejects forged tokens without a database read.
 * - The successor's secret is a MAC over its predecessor. So the server can return the same successor twice without
 *   storing it, and only to a client that holds the predecessor.
 *
 * The database contains only the keyed hash of the current token (docs/decisions/09-sign-in.md).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { checksumChars, refreshTokenBodyChars, refreshTokenPrefix } from '@keyreeve/contract';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import { checksum, hasChecksum, fromBase62, Secret, toBase62 } from '../../foundation/crypto/secret.ts';

export const sessionBytes = 16;
const generationBytes = 4;
const secretBytes = 32;
const proofBytes = 16;
const bodyBytes = sessionBytes + generationBytes + secretBytes + proofBytes;
const sessionIdPrefix = 'ses_';
const sessionIdChars = 22;

export interface RefreshToken {
  readonly text: Secret;
  readonly sessionId: string;
  /** 1 for the first of a session. */
  readonly generation: number;
  /** Stored instead of the token: 33 bytes. */
  readonly hash: Buffer;
}

type Keys = Pick<InstallationKeys, 'refreshTokenHash' | 'refreshTokenSuccessor' | 'refreshTokenGeneration'>;

export class RefreshTokens {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** The first token of a new session. */
  first(): RefreshToken {
    return this.#make(randomBytes(sessionBytes), 1, randomBytes(secretBytes));
  }

  /** The token that replaces this one. The same token always has the same successor. */
  successor(token: RefreshToken): RefreshToken {
    const session = sessionBytesOf(token.sessionId);
    if (!session) throw new Error('a parsed token has a session id');
    return this.#make(session, token.generation + 1, this.#keys.refreshTokenSuccessor.mac(token.text.reveal()));
  }

  /** @returns undefined for a text that this installation did not create */
  parse(text: string): RefreshToken | undefined {
    const prefixChars = refreshTokenPrefix.length + 1;
    const bodyEnd = prefixChars + refreshTokenBodyChars;
    if (text.length !== bodyEnd + checksumChars || !text.startsWith(`${refreshTokenPrefix}_`)) return undefined;
    if (!hasChecksum(text, prefixChars)) return undefined;
    const body = fromBase62(text.slice(prefixChars, bodyEnd), bodyBytes);
    if (!body) return undefined;
    const payload = body.subarray(0, bodyBytes - proofBytes);
    if (!timingSafeEqual(this.#proof(payload), body.subarray(bodyBytes - proofBytes))) return undefined;
    return {
      text: new Secret(text),
      sessionId: sessionId(body.subarray(0, sessionBytes)),
      generation: body.readUInt32BE(sessionBytes),
      hash: this.#keys.refreshTokenHash.stored(text),
    };
  }

  #make(session: Buffer, generation: number, secret: Buffer): RefreshToken {
    const payload = Buffer.concat([session, Buffer.alloc(generationBytes), secret]);
    payload.writeUInt32BE(generation, sessionBytes);
    const body = toBase62(Buffer.concat([payload, this.#proof(payload)]), refreshTokenBodyChars);
    const unchecked = `${refreshTokenPrefix}_${body}`;
    const text = unchecked + checksum(unchecked);
    return {
      text: new Secret(text),
      sessionId: sessionId(session),
      generation,
      hash: this.#keys.refreshTokenHash.stored(text),
    };
  }

  #proof(payload: Uint8Array): Buffer {
    return this.#keys.refreshTokenGeneration.mac(payload).subarray(0, proofBytes);
  }
}

/** Whether a text has the form of a session id. */
export const isSessionId = (text: string): boolean => /^ses_[0-9A-Za-z]{22}$/.test(text);

/** @param bytes 16 */
export const sessionId = (bytes: Uint8Array): string => sessionIdPrefix + toBase62(bytes, sessionIdChars);

/** The inverse of {@link sessionId}. @returns undefined for text of another format */
export const sessionBytesOf = (id: string): Buffer | undefined =>
  fromBase62(id.slice(sessionIdPrefix.length), sessionBytes);
