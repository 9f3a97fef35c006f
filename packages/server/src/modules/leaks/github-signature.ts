/** Verifies the signature of a report by GitHub: ECDSA P-256 with SHA-256 over the bytes of the body, DER in base64. */
import { verify } from 'node:crypto';
import { DomainError } from '../../foundation/errors.ts';
import type { FindPublicKey } from './github-keys.ts';

export interface GithubSignature {
  /** `Github-Public-Key-Identifier`. */
  readonly keyId: string | undefined;
  /** `Github-Public-Key-Signature`. */
  readonly signature: string | undefined;
}

/** GitHub's identifiers are SHA-256 in hexadecimal. Other texts cause no request to GitHub. */
const keyIdPattern = /^[0-9a-f]{64}$/;
/** A signature has at most 72 bytes. */
const signaturePattern = /^[0-9A-Za-z+/]{8,96}={0,2}$/;

/**
 * No time is signed. A report that is sent again has the same effect, so a replay changes nothing.
 * @throws DomainError `invalid_signature`, `unavailable`
 */
export async function verifySignature(
  keys: FindPublicKey,
  body: Uint8Array,
  { keyId, signature }: GithubSignature,
): Promise<void> {
  if (keyId === undefined || signature === undefined || !keyIdPattern.test(keyId) || !signaturePattern.test(signature))
    throw new DomainError('invalid_signature');
  const key = await keys.find(keyId);
  const der = Buffer.from(signature, 'base64');
  if (!key || !verify('sha256', body, { key, dsaEncoding: 'der' }, der)) throw new DomainError('invalid_signature');
}
