/** The option `--public-key`: a file with a public key, as a JWK or in PEM. */
import { createPublicKey } from 'node:crypto';
import { openSync, closeSync, readSync } from 'node:fs';
import { Option } from 'commander';
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { UsageError } from './failure.ts';

export const publicKeyOption = (description: string): Option =>
  new Option('--public-key <file>', `${description}: a JWK or PEM, Ed25519 or P-256`);

/** A JWK of P-256 has about 200 bytes. */
const bytesMax = 16_384;

/**
 * @returns a JWK, which is not checked
 * @throws UsageError if the file cannot be read, is too long, has a private key, or is neither JSON nor a public key in PEM
 */
export function readPublicKey(path: string): unknown {
  const bytes = readStart(path);
  if (bytes.length > bytesMax) throw new UsageError(`${path} has more than ${bytesMax} bytes, so it is no public key`);
  const text = bytes.toString('latin1');
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new UsageError(
      `${path} contains a private key. Keep it on the client. Write the public key to a file: openssl pkey -in ${path} -pubout -out public.pem`,
    );
  if (text.includes('-----BEGIN PUBLIC KEY-----')) return jwkOfPem(path, text);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new UsageError(
      `${path} is neither a JWK nor a public key in PEM (-----BEGIN PUBLIC KEY-----); convert DER with: openssl pkey -pubin -inform DER -in ${path}`,
    );
  }
}

/** @returns at most one byte more than a public key can have */
function readStart(path: string): Buffer {
  const buffer = Buffer.alloc(bytesMax + 1);
  try {
    const file = openSync(path, 'r');
    try {
      let length = 0;
      for (let read = 1; read > 0 && length < buffer.length; length += read)
        read = readSync(file, buffer, length, buffer.length - length, null);
      return buffer.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function jwkOfPem(path: string, text: string): unknown {
  try {
    return createPublicKey(text).export({ format: 'jwk' });
  } catch {
    throw new UsageError(`the public key in ${path} is neither an Ed25519 nor a P-256 key`);
  }
}
