/**
 * Signatures of webhooks as the Standard Webhooks specification (1.0.0) has them: HMAC-SHA-256 over id, timestamp and
 * body, so that receivers can use any of its libraries.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../../foundation/crypto/secret.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** `whsec_` and 256 random bits in base64. */
export const makeSigningSecret = (): Secret => new Secret(prefix + randomBytes(secretBytes).toString('base64'));

/**
 * The headers of one attempt.
 * @param now in milliseconds: receivers refuse what is old
 * @param secrets each makes a signature; a receiver is content with one of them
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
