/** Limits of passkeys. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const passkeyLimits = {
  passkeysPerAccountMax: limit(20, 'Passkeys of an account.', 'passkey_limit_reached'),
  passkeyChallengeSeconds: limit(300, 'Validity of the options for creating or using a passkey.'),
  // 1023 bytes (WebAuthn Level 3, section 4) in base64url.
  credentialIdCharsMax: limit(1_364, 'The credential id of a passkey, in base64url.'),
  passkeyClientDataCharsMax: limit(8_192, 'The client data of a passkey, in base64url.'),
  // The time that CBOR takes to parse grows with its size: 6 kB can take 0.1 s, and 384 bytes 1 ms. 37 bytes are usual: only
  // extensions, which the server does not request, add others.
  passkeyAuthenticatorDataCharsMax: limit(512, 'The authenticator data of a passkey, in base64url.'),
  // 2,304 bytes: a credential id of 1,023 bytes, a key and a signature of 512 bytes each (RSA with 4,096 bits), and 200 others.
  passkeyAttestationCharsMax: limit(3_072, 'A new passkey with its public key, in base64url.'),
  // 512 bytes: RSA with 4,096 bits.
  passkeySignatureCharsMax: limit(683, 'The signature of a passkey, in base64url.'),
  passkeyChangesPerHourMax: limit(
    60,
    'Passkeys that an account adds or renames in an hour, also rejected ones.',
    'too_many_requests',
  ),
} as const satisfies Limits;
