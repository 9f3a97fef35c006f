/** Time-based one-time passwords (RFC 6238), as every such program knows them: SHA-1, six digits, 30 seconds. */
import { randomBytes } from 'node:crypto';
import { Secret as TotpKey, TOTP } from 'otpauth';

const shape = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** RFC 4226 section 4, requirement 6. */
const secretBytes = 20;
/** Steps to either side of now: a clock that is half a minute wrong, a user who is slow (RFC 6238 section 5.2). */
const window = 1;

/** 160 random bits in base32. */
export const newTotpSecret = (): string =>
  new TotpKey({ buffer: Uint8Array.from(randomBytes(secretBytes)).buffer }).base32;

/** For a QR code. @param issuer whose account it is: shown by the program */
export const totpUri = (secret: string, issuer: string, label: string): string =>
  new TOTP({ ...shape, issuer, label, secret }).toString();

export const isTotpCode = (text: string): boolean => /^[0-9]{6}$/.test(text);

/** @param code of six digits @param now milliseconds @returns the time step that it belongs to; undefined when it is wrong */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const key = TotpKey.fromBase32(secret);
  const delta = TOTP.validate({ ...shape, token: code, secret: key, timestamp: now, window });
  return delta === null ? undefined : TOTP.counter({ period: shape.period, timestamp: now }) + delta;
}
