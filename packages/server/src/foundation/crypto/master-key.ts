/**
 * The keys of an installation, which derive from its root key (HKDF-SHA-256, RFC 5869; `root-key.ts`). Each purpose has its
 * own key, so a disclosed key does not endanger the others.
 */
import { hkdfSync } from 'node:crypto';
import { ApiKeyHash } from './api-key-hash.ts';
import { KeyedHash } from './keyed-hash.ts';
import { Sealer } from './seal.ts';

export const masterKeyBytes = 32;
export const rootKeyBytes = 32;

/** The operations that other code can perform with keys derived from the root key. */
export interface InstallationKeys {
  /** Stored form of API keys. */
  readonly apiKeyHash: KeyedHash;
  /** Stored form of refresh tokens. */
  readonly refreshTokenHash: KeyedHash;
  /** Stored form of the session cookies of the console. */
  readonly consoleSessionHash: KeyedHash;
  /** Derives the successor of a refresh token. */
  readonly refreshTokenSuccessor: KeyedHash;
  /** Authenticates the generation number in a refresh token. */
  readonly refreshTokenGeneration: KeyedHash;
  /** Names of rate-limit counters, so that the database holds no email address or client IP in plain text. */
  readonly throttleBucket: KeyedHash;
  /** Applied after Argon2id. */
  readonly passwordPepper: KeyedHash;
  /** Private signing keys at rest. */
  readonly signingKeySeal: Sealer;
  /** Payloads of outbox jobs, such as mail with a link. */
  readonly outboxSeal: Sealer;
  /** Stored form of one-time codes and recovery codes. */
  readonly oneTimeCodeHash: KeyedHash;
  /** Challenges and user handles of passkeys. */
  readonly passkeys: KeyedHash;
  /** Authenticates what a browser keeps during a single sign-on. */
  readonly singleSignOn: KeyedHash;
  /** Secrets of second factors and of webhooks at rest. */
  readonly secondFactorSeal: Sealer;
  readonly webhookSeal: Sealer;
  /** Chains the rows of the audit log. */
  readonly auditChain: KeyedHash;
  /** Authenticates the cuts of the audit log, which record what the retention has removed. */
  readonly auditCut: KeyedHash;
  /** Authenticates backups. */
  readonly backup: KeyedHash;
  /** Authenticates the deletion journal. */
  readonly deletionJournal: KeyedHash;
  /** Identifies the installation in its database, its backups and its deletion journal. */
  readonly check: Buffer;
}

/** @param rootKey 32 bytes @throws RangeError for another length */
export function deriveKeys(rootKey: Uint8Array): InstallationKeys {
  if (rootKey.length !== rootKeyBytes) throw new RangeError(`the root key has ${rootKeyBytes} bytes`);
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', rootKey, Buffer.alloc(0), `keyreeve ${purpose} v1`, 32));
  return {
    apiKeyHash: new ApiKeyHash(derive('api key hash')),
    refreshTokenHash: new KeyedHash(derive('refresh token hash')),
    consoleSessionHash: new KeyedHash(derive('console session hash')),
    refreshTokenSuccessor: new KeyedHash(derive('refresh token successor')),
    refreshTokenGeneration: new KeyedHash(derive('refresh token generation')),
    throttleBucket: new KeyedHash(derive('throttle bucket')),
    passwordPepper: new KeyedHash(derive('password pepper')),
    signingKeySeal: new Sealer(derive('signing key seal')),
    outboxSeal: new Sealer(derive('outbox seal')),
    oneTimeCodeHash: new KeyedHash(derive('one-time code hash')),
    passkeys: new KeyedHash(derive('passkeys')),
    singleSignOn: new KeyedHash(derive('single sign-on')),
    secondFactorSeal: new Sealer(derive('second factor seal')),
    webhookSeal: new Sealer(derive('webhook seal')),
    auditChain: new KeyedHash(derive('audit chain')),
    auditCut: new KeyedHash(derive('audit cut')),
    backup: new KeyedHash(derive('backup')),
    deletionJournal: new KeyedHash(derive('deletion journal')),
    check: derive('check'),
  };
}
