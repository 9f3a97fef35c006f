/** Time-based one-time passwords (RFC 6238) with the parameters that every authenticator app supports: SHA-1, six digits, 30 seconds. */
import { randomBytes } from 'node:crypto';
import { Secret as TotpKey, TOTP } from 'otpauth';

const shape = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** RFC 4226 section 4, requirement 6. */
const secretBytes = 20;
/** Accepted steps before and after the current one: allows for clock skew and slow typing (RFC 6238 section 5.2). */
const window = 1;

/** A secret as text: base32 (RFC 4648 section 6) without padding. */
export const totpSecretOf = (bytes: Uint8Array): string =>
  new TotpKey({ buffer: Uint8Array.from(bytes).buffer }).base32;

/** 160 random bits. */
export const newTotpSecret = (): string => totpSecretOf(randomBytes(secretBytes));

/** The URI for a QR code. @param issuer shown by the authenticator app */
export const totpUri = (secret: string, issuer: string, label: string): string =>
  new TOTP({ ...shape, issuer, label, secret }).toString();

export const isTotpCode = (text: string): boolean => /^[0-9]{6}$/.test(text);

/** @param code of six digits @param now milliseconds @returns the time step of the code; undefined when it is wrong */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const key = TotpKey.fromBase32(secret);
  const delta = TOTP.validate({ ...shape, token: code, secret: key, timestamp: now, window });
  return delta === null ? undefined : TOTP.counter({ period: shape.period, timestamp: now }) + delta;
}

/** RFC 4226 section 4 requires 16 bytes; many systems make 10. */
const importedBytesMin = 10;
const importedBytesMax = 64;

/**
 * The secret of an authenticator app of another system.
 * @param text base32 (RFC 4648 section 6, in any case, with or without spaces, hyphens and padding), or the URI of a QR code
 * @returns base32; undefined for another text, and for a URI with parameters other than those of this file
 */
export function importedTotpSecret(text: string): string | undefined {
  const trimmed = text.trim();
  const secret = trimmed.startsWith('otpauth:') ? secretOfUri(trimmed) : trimmed;
  const base32 = secret
    ?.toUpperCase()
    .replaceAll(/[\s-]/g, '')
    .replace(/(?<!=)=+$/, '');
  if (base32 === undefined || !/^[A-Z2-7]+$/.test(base32)) return undefined;
  const bytes = Math.floor((base32.length * 5) / 8);
  return bytes < importedBytesMin || bytes > importedBytesMax ? undefined : base32;
}

function secretOfUri(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { host, searchParams } = new URL(text);
  const { algorithm, digits, period } = shape;
  const expected = { algorithm, digits: String(digits), period: String(period) };
  const isUsual = Object.entries(expected).every(([name, value]) => {
    const given = searchParams.get(name);
    return given === null || given.toUpperCase() === value;
  });
  return host === 'totp' && isUsual ? (searchParams.get('secret') ?? undefined) : undefined;
}

/** The time step of a time, in milliseconds. */
export const currentStep = (now: number): number => TOTP.counter({ period: shape.period, timestamp: now });
