/** The stored hash of a key without a secret. */
import { randomBytes } from 'node:crypto';
import { digestBytes, storedVersion } from '../../foundation/crypto/keyed-hash.ts';

/** Of a public key, or of a key whose secret has leaked: it belongs to no text, so no credential has it. */
export const randomHash = (): Buffer => Buffer.concat([Buffer.of(storedVersion), randomBytes(digestBytes)]);
