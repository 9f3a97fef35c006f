/** Reports of GitHub secret scanning, signed by a key of the test, and the vector that GitHub published. */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** From GitHub's documentation of the partner program. */
export const publishedVector = {
  keyId: 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
  publicKey:
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsz9ugWDj5jK5ELBK42ynytbo38gP\nHzZFI03Exwz8Lh/tCfL3YxwMdLjB+bMznsanlhK0RwcGP3IDb34kQDIo3Q==\n-----END PUBLIC KEY-----\n',
  signature: 'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
  body: '[{"token":"some_token","type":"some_type","url":"some_url","source":"some_source"}]',
} as const;

/** A key pair with the role of GitHub's. */
export class GithubSigner {
  readonly keyId: string;
  readonly publicKey: string;
  readonly #privateKey: KeyObject;

  constructor(keyId = 'a'.repeat(64)) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.keyId = keyId;
    this.publicKey = publicKey.export({ type: 'spki', format: 'pem' });
    this.#privateKey = privateKey;
  }

  signatureOf(body: string | Uint8Array): string {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return sign('sha256', bytes, { key: this.#privateKey, dsaEncoding: 'der' }).toString('base64');
  }

  headers(body: string | Uint8Array): Record<string, string> {
    return signedBy(this.keyId, this.signatureOf(body));
  }
}

export const signedBy = (keyId: string, signature: string): Record<string, string> => ({
  'content-type': 'application/json',
  'github-public-key-identifier': keyId,
  'github-public-key-signature': signature,
});

interface NamedKey {
  readonly keyId: string;
  readonly publicKey: string;
}

/** The response of GitHub that lists its public keys. */
export const listOf = (...keys: readonly NamedKey[]): string =>
  JSON.stringify({
    public_keys: keys.map(({ keyId, publicKey }) => ({ key_identifier: keyId, key: publicKey, is_current: true })),
  });

/** @returns settings with which a service accepts reports by these keys */
export function githubSettings(folder: string, ...keys: readonly NamedKey[]): Record<string, string> {
  const file = join(folder, 'github-keys.json');
  writeFileSync(file, listOf(...keys));
  return { KEYREEVE_GITHUB_SCANNING: 'on', KEYREEVE_GITHUB_SCANNING_KEYS: file };
}
