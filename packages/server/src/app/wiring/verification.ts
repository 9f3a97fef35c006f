/**
 * Creates what verifies credentials. The service connects it with its other modules; a process that only verifies
 * (`processes/verifier.ts`) loads no others.
 */
import type { Core } from '../../foundation/core.ts';
import { Environments } from '../../modules/api-keys/environments.ts';
import { acceptedPrefixes } from '../../modules/api-keys/key-prefixes.ts';
import type { PendingIds } from '../../modules/deletion-journal/pending-changes.ts';
import type { Revocations } from '../../modules/deletion-journal/revocation.ts';
import type { Draws } from '../../modules/key-limits/draws.ts';
import { KeyLimiter, type QuotaReached } from '../../modules/key-limits/key-limits.ts';
import { assertSessionValidTx } from '../../modules/sessions/store.ts';
import { SigningKeys } from '../../modules/signing-keys/signing-keys.ts';
import { AccessTokens } from '../../modules/tokens/access-token.ts';
import { Tokens } from '../../modules/tokens/tokens.ts';
import type { VerifierOptions } from '../../modules/verification/results.ts';
import { Verifier } from '../../modules/verification/verify.ts';
import type { Config } from '../configuration/config.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';

export interface VerificationCore extends Core {
  readonly config: Config;
  readonly keys: InstallationKeys;
  /** The public URL. */
  readonly issuer: string;
  /** Undefined without a deletion journal, and in a process that changes nothing. */
  readonly revocations: Revocations | undefined;
}

/** Changes of unknown outcome. */
export interface PendingSources {
  readonly keys: PendingIds<number>;
  readonly accounts: PendingIds<string>;
  readonly scopes: PendingIds<string>;
  readonly issuers: PendingIds<number>;
}

/** Which keys the configuration accepts. */
export const keyRulesOf = ({ config, keys, issuer }: Pick<VerificationCore, 'config' | 'keys' | 'issuer'>) => ({
  hash: keys.apiKeyHash,
  keyPrefixes: acceptedPrefixes(config),
  environments: new Environments(config.environments, config.keyPrefix, config.forwardEnvironments === 'any'),
  hasCatalogue: config.scopes === 'catalogue',
  audiences: { publicUrl: issuer, others: config.exchangeAudiences },
});

export function wireAccessTokens(core: VerificationCore, pendingAccountChanges: PendingIds<string>) {
  const { config, keys, clock, issuer } = core;
  const { accessTokenTtlSeconds, audience = issuer } = config;
  const signingKeys = new SigningKeys({
    ...core,
    seal: keys.signingKeySeal,
    alg: config.jwtAlg,
    accessTokenTtlSeconds,
    guard: assertSessionValidTx,
  });
  const accessTokens = new AccessTokens({ clock, signingKeys, issuer, audience, ttlSeconds: accessTokenTtlSeconds });
  return { signingKeys, accessTokens, tokens: new Tokens({ ...core, accessTokens, pendingAccountChanges }) };
}

interface VerifierParts extends ReturnType<typeof keyRulesOf>, Pick<VerifierOptions, 'tokens' | 'uses'> {
  readonly pending: PendingSources;
  readonly draws: Draws;
  readonly onQuotaReached: (quota: QuotaReached) => boolean;
}

export function wireVerifier(core: VerificationCore, { pending, ...parts }: VerifierParts) {
  const limiter = new KeyLimiter({ ...core, ...parts });
  const verifier = new Verifier({
    ...core,
    ...parts,
    limiter,
    pendingKeyChanges: pending.keys,
    pendingAccountChanges: pending.accounts,
    pendingIssuerChanges: pending.issuers,
    pendingScopeChanges: parts.hasCatalogue ? pending.scopes : undefined,
  });
  return { limiter, verifier };
}
