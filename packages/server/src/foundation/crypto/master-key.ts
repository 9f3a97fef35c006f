/**
 * The keys of an installation, which derive from its root key (HKDF-SHA-256, RFC 5869; `root-key.ts`). Each purpose has its
 * own key, so a disclosed key does not endanger the others.
 *
 * After a rotation of the root key, most purposes have a key of the newest version. Some keep the key of the first version,
 * because what they protect stays valid: docs/decisions/11-installation-keys.md states why that is safe.
 */
import { hkdfSync } from 'node:crypto';
import { ApiKeyHash } from './api-key-hash.ts';
import { KeyedHash } from './keyed-hash.ts';
import { Peppers } from './peppers.ts';
import { Sealer } from './seal.ts';
import { VersionedHash } from './versioned-hash.ts';

export const masterKeyBytes = 32;
export const rootKeyBytes = 32;

/** The operations that other code can perform with keys derived from the root key. */
export interface InstallationKeys {
  /** The version of the root key, from 1. */
  readonly version: number;
  /** The keys of all earlier versions, oldest first. */
  readonly earlier: readonly InstallationKeys[];
  /** Stored form of API keys and short-lived secrets. Of the first version. */
  readonly apiKeyHash: KeyedHash;
  /** Stored form of refresh tokens. */
  readonly refreshTokenHash: KeyedHash;
  /** Stored form of the session cookies of the console. */
  readonly consoleSessionHash: KeyedHash;
  /** Stored form of tokens and secrets of portal sessions. */
  readonly portalSessionHash: KeyedHash;
  /** Derives the successor of a refresh token. */
  readonly refreshTokenSuccessor: KeyedHash;
  /** Authenticates the generation number in a refresh token. */
  readonly refreshTokenGeneration: KeyedHash;
  /** Names of rate-limit counters, so that the database holds no email address or client IP in plain text. */
  readonly rateLimitBucket: KeyedHash;
  /** Applied after Argon2id. Of all versions. */
  readonly passwordPeppers: Peppers;
  /** Private signing keys at rest. */
  readonly signingKeySeal: Sealer;
  /** Payloads of outbox jobs, such as mail with a link. */
  readonly outboxSeal: Sealer;
  /** Stored form of one-time codes. */
  readonly oneTimeCodeHash: KeyedHash;
  /** Stored form of recovery codes. Of the first version. */
  readonly recoveryCodeHash: KeyedHash;
  /** Challenges of passkeys. */
  readonly passkeyChallenges: KeyedHash;
  /** User handles of passkeys. Of the first version. */
  readonly passkeyUserHandles: KeyedHash;
  /** Authenticates what a browser keeps during a single sign-on. */
  readonly singleSignOn: KeyedHash;
  /** Secrets of second factors and of webhooks at rest. */
  readonly secondFactorSeal: Sealer;
  readonly webhookSeal: Sealer;
  /** Chains the rows of the audit log. */
  readonly auditChain: VersionedHash;
  /** Authenticates the cuts of the audit log, which record what the retention has removed. */
  readonly auditCut: KeyedHash;
  /** Authenticates backups. */
  readonly backup: KeyedHash;
  /** Of the settings that an instance records. */
  readonly settingsRecord: KeyedHash;
  /** Authenticates the deletion journal. */
  readonly deletionJournal: KeyedHash;
  /** Identifies the installation in its database, its backups and its deletion journal. */
  readonly check: Buffer;
}

/** Of an installation whose root key was never rotated. @param rootKey 32 bytes @throws RangeError for another length */
export const deriveKeys = (rootKey: Uint8Array): InstallationKeys => deriveAllKeys(new Map([[1, rootKey]]));

/**
 * @param rootKeys by version, at least one. Each has 32 bytes
 * @throws RangeError for another length
 */
export function deriveAllKeys(rootKeys: ReadonlyMap<number, Uint8Array>): InstallationKeys {
  const versions = [...rootKeys].toSorted(([one], [other]) => one - other);
  const derived: InstallationKeys[] = [];
  for (const [version, rootKey] of versions) {
    const earlier = derived.slice();
    const [first] = earlier;
    derived.push({ ...deriveVersion(rootKey, version, earlier), ...(first ? keptOf(first) : {}) });
  }
  const newest = derived.at(-1);
  if (!newest) throw new RangeError('there is no root key');
  return newest;
}

/** The keys of the first version that stay in use. */
const keptOf = ({ apiKeyHash, recoveryCodeHash, passkeyUserHandles }: InstallationKeys) => ({
  apiKeyHash,
  recoveryCodeHash,
  passkeyUserHandles,
});

function deriveVersion(rootKey: Uint8Array, version: number, earlier: readonly InstallationKeys[]): InstallationKeys {
  if (rootKey.length !== rootKeyBytes) throw new RangeError(`the root key has ${rootKeyBytes} bytes`);
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', rootKey, Buffer.alloc(0), `keyreeve ${purpose} v1`, 32));
  const codeHash = new KeyedHash(derive('one-time code hash'));
  const passkeys = new KeyedHash(derive('passkeys'));
  const pepper = new KeyedHash(derive('password pepper'));
  return {
    version,
    earlier,
    apiKeyHash: new ApiKeyHash(derive('api key hash')),
    refreshTokenHash: new KeyedHash(derive('refresh token hash')),
    consoleSessionHash: new KeyedHash(derive('console session hash')),
    portalSessionHash: new KeyedHash(derive('portal session hash')),
    refreshTokenSuccessor: new KeyedHash(derive('refresh token successor')),
    refreshTokenGeneration: new KeyedHash(derive('refresh token generation')),
    rateLimitBucket: new KeyedHash(derive('rate limit bucket')),
    passwordPeppers: new Peppers([...(earlier.at(-1)?.passwordPeppers.all ?? []), [version, pepper]]),
    signingKeySeal: new Sealer(derive('signing key seal')),
    outboxSeal: new Sealer(derive('outbox seal')),
    oneTimeCodeHash: codeHash,
    recoveryCodeHash: codeHash,
    passkeyChallenges: passkeys,
    passkeyUserHandles: passkeys,
    singleSignOn: new KeyedHash(derive('single sign-on')),
    secondFactorSeal: new Sealer(derive('second factor seal')),
    webhookSeal: new Sealer(derive('webhook seal')),
    auditChain: new VersionedHash(derive('audit chain'), version),
    auditCut: new KeyedHash(derive('audit cut')),
    backup: new KeyedHash(derive('backup')),
    settingsRecord: new KeyedHash(derive('settings record')),
    deletionJournal: new KeyedHash(derive('deletion journal')),
    check: derive('check'),
  };
}
