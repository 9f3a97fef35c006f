/**
 * The user handle of an account: what authenticators store to identify it (WebAuthn Level 3, section 5.4.3). It is a keyed
 * hash of the account id, so it needs no column, stays the same after a restore, and shows nothing about the account.
 */
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';

/** @returns 32 bytes in base64url */
export const userHandleOf = (hash: KeyedHash, accountId: string): string =>
  hash.mac(JSON.stringify(['webauthn user', accountId])).toString('base64url');
