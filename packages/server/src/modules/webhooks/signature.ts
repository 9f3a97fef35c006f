/**
 * Signatures of webhooks by the Standard Webhooks specification 1.0.0, for which receivers find libraries: HMAC-SHA-256
 * over id, timestamp and body.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../../foundation/crypto/secret.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** `whsec_` and 256 random bits in base64. */
export const makeSigningSecret = (): Secret => new Secret(prefix + randomBytes(secretBytes).toString('base64'));

/** Whether a text is `whsec_` and 32 to 64 bytes in base64. */
export const isSigningSecret = (text: string): boolean => {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  const { length } = Buffer.from(encoded, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && length >= secretBytes && length <= 2 * secretBytes;
};

/**
 * The headers of one attempt.
 * @param now in milliseconds; receivers reject old messages
 * @param secrets each adds a signature; a receiver accepts a message if one of them is valid
 */
export function signedHeaders(
  id: string,
  now: number,
  body: string,
  secrets: readonly Secret[],
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(now / 1000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
