/**
 * The installation's master key and what is derived from it. Each purpose has a key of its own
 * (HKDF-SHA-256, RFC 5869), so that knowing one says nothing about another.
 */
import { hkdfSync } from 'node:crypto';
import { KeyedHash } from './keyed-hash.ts';
import { Sealer } from './seal.ts';

export const masterKeyBytes = 32;

/** What the rest of the program may do with the master key. */
export interface InstallationKeys {
  /** Stored form of API keys. */
  readonly apiKeyHash: KeyedHash;
  /** Stored form of refresh tokens. */
  readonly refreshTokenHash: KeyedHash;
  /** Makes the successor of a refresh token and proves its generation. */
  readonly refreshTokenSuccessor: KeyedHash;
  readonly refreshTokenGeneration: KeyedHash;
  /** Names of throttle counters: no email or address is kept in clear. */
  readonly throttleBucket: KeyedHash;
  /** Applied after Argon2id. */
  readonly passwordPepper: KeyedHash;
  /** Private signing keys at rest. */
  readonly signingKeySeal: Sealer;
  /** Work that is to be done after a commit, such as mail with a link. */
  readonly outboxSeal: Sealer;
  /** Stored form of one-time codes and recovery codes. */
  readonly oneTimeCodeHash: KeyedHash;
  /** Secrets of second factors and of webhooks at rest. */
  readonly secondFactorSeal: Sealer;
  readonly webhookSeal: Sealer;
  /** Chains the rows of the audit trail. */
  readonly auditChain: KeyedHash;
  /** Shows whether a backup, or a journal of deletions, is as it was written. */
  readonly backup: KeyedHash;
  readonly deletionJournal: KeyedHash;
  /** Tells a wrong master key from a right one without holding anything of use. */
  readonly check: Buffer;
}

export function deriveKeys(masterKey: Uint8Array): InstallationKeys {
  if (masterKey.length !== masterKeyBytes) throw new RangeError(`the master key has ${masterKeyBytes} bytes`);
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `keyreeve ${purpose} v1`, 32));
  return {
    apiKeyHash: new KeyedHash(derive('api key hash')),
    refreshTokenHash: new KeyedHash(derive('refresh token hash')),
    refreshTokenSuccessor: new KeyedHash(derive('refresh token successor')),
    refreshTokenGeneration: new KeyedHash(derive('refresh token generation')),
    throttleBucket: new KeyedHash(derive('throttle bucket')),
    passwordPepper: new KeyedHash(derive('password pepper')),
    signingKeySeal: new Sealer(derive('signing key seal')),
    outboxSeal: new Sealer(derive('outbox seal')),
    oneTimeCodeHash: new KeyedHash(derive('one-time code hash')),
    secondFactorSeal: new Sealer(derive('second factor seal')),
    webhookSeal: new Sealer(derive('webhook seal')),
    auditChain: new KeyedHash(derive('audit chain')),
    backup: new KeyedHash(derive('backup')),
    deletionJournal: new KeyedHash(derive('deletion journal')),
    check: derive('check'),
  };
}
