/** Passkeys in the options for browsers (WebAuthn Level 3, section 5.8.3). */
import type { PasskeyRow } from './store.ts';

/** WebAuthn Level 3, section 5.8.4. Other values are not stored. */
const transportNames = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'];

/** @returns the stored form */
export const knownTransports = (names: readonly string[] = []): string =>
  transportNames.filter((name) => names.includes(name)).join(',');

/** Of the passkeys with this rp id: browsers have the others elsewhere. */
export const descriptorsOf = (passkeys: readonly PasskeyRow[], rpId: string) =>
  passkeys
    .filter((passkey) => passkey.rpId === rpId)
    .map(({ credentialId, transports }) => ({
      type: 'public-key' as const,
      id: Buffer.from(credentialId).toString('base64url'),
      transports: transports === '' ? [] : transports.split(','),
    }));
