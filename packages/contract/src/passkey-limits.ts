/** Limits of passkeys. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const passkeyLimits = {
  passkeysPerAccountMax: limit(20, 'Passkeys of an account. More: 409.'),
  passkeyChallengeSeconds: limit(300, 'Validity of the options for creating or using a passkey.'),
  // 1023 bytes (WebAuthn Level 3, section 4) in base64url.
  credentialIdCharsMax: limit(1_364, 'The credential id of a passkey, in base64url.'),
  passkeyMessageCharsMax: limit(8_192, 'Each message of an authenticator, in base64url.'),
  passkeyChangesPerHourMax: limit(60, 'Passkeys that an account adds or renames in an hour. More: 429.'),
} as const satisfies Limits;
