/**
 * Challenges of WebAuthn that need no storage before they are used: base64url of 16 random bytes, the time and a MAC. Any
 * client can request challenges, so storing each would let clients without a credential fill a table. The transaction of the
 * operation stores a challenge that was used (`store.ts`), so it works once.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { digestBytes, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';

const nonceBytes = 16;
const timeBytes = 6;
const challengeBytes = nonceBytes + timeBytes + digestBytes;

/** A challenge is valid only for the purpose that it was made for. */
export type ChallengePurpose =
  | readonly ['registration', accountId: string, sessionId: string]
  | readonly ['sign-in']
  | readonly ['second factor', accountId: string];

/** A valid challenge. Its MAC identifies it. */
export interface UsedChallenge {
  readonly mac: Buffer;
  readonly expiresAt: number;
}

/** @param now milliseconds @returns base64url */
export function makeChallenge(hash: KeyedHash, purpose: ChallengePurpose, now: number): string {
  const unique = Buffer.alloc(nonceBytes + timeBytes);
  randomBytes(nonceBytes).copy(unique);
  unique.writeUIntBE(now, nonceBytes, timeBytes);
  return Buffer.concat([unique, macOf(hash, purpose, unique)]).toString('base64url');
}

/** @returns undefined for a challenge that is malformed, forged, expired or for another purpose */
export function readChallenge(
  hash: KeyedHash,
  purpose: ChallengePurpose,
  text: string,
  now: number,
): UsedChallenge | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== challengeBytes || bytes.toString('base64url') !== text) return undefined;
  const unique = bytes.subarray(0, nonceBytes + timeBytes);
  const mac = bytes.subarray(nonceBytes + timeBytes);
  if (!timingSafeEqual(mac, macOf(hash, purpose, unique))) return undefined;
  const validMs = limits.passkeyChallengeSeconds * 1000;
  const madeAt = unique.readUIntBE(nonceBytes, timeBytes);
  // The clock of the instance that made it may be ahead.
  if (Math.abs(now - madeAt) > validMs) return undefined;
  return { mac, expiresAt: madeAt + validMs };
}

const macOf = (hash: KeyedHash, purpose: ChallengePurpose, unique: Buffer): Buffer =>
  hash.mac(JSON.stringify(['webauthn challenge', ...purpose, unique.toString('hex')]));
