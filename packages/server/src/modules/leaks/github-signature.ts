/** Verifies the signature of a report by GitHub: ECDSA P-256 with SHA-256 over the bytes of the body, DER in base64. */
import { verify, type KeyObject } from 'node:crypto';
import { DomainError } from '../../foundation/errors.ts';

/** The headers of a report. */
export interface GithubSignature {
  /** `Github-Public-Key-Identifier`. */
  readonly keyId: string | undefined;
  /** `Github-Public-Key-Signature`. */
  readonly signature: string | undefined;
}

export interface ParsedSignature {
  readonly keyId: string;
  readonly der: Uint8Array;
}

/** GitHub's identifiers are SHA-256 in hexadecimal. Other texts cause no request to GitHub. */
const keyIdPattern = /^[0-9a-f]{64}$/;
/** A signature has at most 72 bytes. */
const signaturePattern = /^[0-9A-Za-z+/]{8,96}={0,2}$/;

/** Needs no body, so a request with malformed headers is rejected before its body is read. @throws DomainError `invalid_signature` */
export function parseSignature({ keyId, signature }: GithubSignature): ParsedSignature {
  if (keyId === undefined || signature === undefined || !keyIdPattern.test(keyId) || !signaturePattern.test(signature))
    throw new DomainError('invalid_signature');
  return { keyId, der: Buffer.from(signature, 'base64') };
}

/**
 * No time is signed. A report that is sent again has the same effect, so a replay changes nothing.
 * @param key undefined if GitHub has no such key
 * @throws DomainError `invalid_signature`
 */
export function verifySignature(key: KeyObject | undefined, body: Uint8Array, der: Uint8Array): void {
  if (!key || !verify('sha256', body, { key, dsaEncoding: 'der' }, der)) throw new DomainError('invalid_signature');
}
