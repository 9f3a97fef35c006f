/**
 * Changes keys with a public key while their short-lived secrets are verified: rotates the public key with an overlap, ends
 * the previous one, disables and enables the key, and deletes it.
 */
import { generateKeyPairSync, randomInt, type KeyObject } from 'node:crypto';
import { systemClock } from '../src/foundation/clock.ts';
import { ExchangingKey, type Credential } from './exchanging-key.ts';
import { newTokenId, signToken } from './canary-issuer.ts';
import { forEachKey } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';

const assertionSeconds = 60;

/** Creates keys one after the other. Each gets the changes in order, and is deleted. */
export const runPublicKeyScenario = (options: ScenarioOptions): Promise<void> =>
  forEachKey(
    options,
    (source) => ExchangingKey.register(source, new KeyPair(), options),
    async (key, probes) => {
      const more = (): Promise<void> => probes.more(1 + randomInt(options.probesMax));
      await key.exchange();
      await more();
      await key.rotate('rotated', new KeyPair());
      await key.exchange();
      await key.exchange('previous');
      await more();
      await key.endPrevious('publicKeyEnded');
      await more();
      if (randomInt(2) === 0) return;
      await key.setDisabled(true);
      await key.setDisabled(false);
    },
  );

class KeyPair implements Credential {
  readonly member: { readonly publicKey: object };
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { kty, crv, x } = publicKey.export({ format: 'jwk' });
    this.member = { publicKey: { kty, crv, x } };
    this.#privateKey = privateKey;
  }

  form(keyId: number, audience: string): { readonly assertion: string } {
    const kid = String(keyId);
    const iat = Math.floor(systemClock.now() / 1_000);
    const claims = { iss: kid, sub: kid, aud: audience, iat, exp: iat + assertionSeconds, jti: newTokenId() };
    return { assertion: signToken({ alg: 'EdDSA', kid }, claims, this.#privateKey) };
  }
}
