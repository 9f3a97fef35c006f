/** Creates the modules of API keys: scopes, service accounts, usage, limits, and the verification of credentials. */
import { ApiKeys } from '../../modules/api-keys/api-keys.ts';
import { KeyChanges } from '../../modules/api-keys/changes.ts';
import { CreationNotices } from '../../modules/api-keys/creation-notices.ts';
import { Environments } from '../../modules/api-keys/environments.ts';
import { ExpiryNotices } from '../../modules/api-keys/expiry-notices.ts';
import { managedAccount } from '../../modules/api-keys/key-owner.ts';
import { acceptedPrefixes } from '../../modules/api-keys/key-prefixes.ts';
import { QuotaNotices } from '../../modules/api-keys/quota-notices.ts';
import { UnusedKeys } from '../../modules/api-keys/unused-keys.ts';
import { CanaryKeys } from '../../modules/canary-keys/canary-keys.ts';
import { KeyLimiter } from '../../modules/key-limits/key-limits.ts';
import { OrphanedMeters } from '../../modules/key-limits/orphaned-meters.ts';
import { KeyUsage } from '../../modules/key-usage/key-usage.ts';
import { UsageRetention } from '../../modules/key-usage/retention.ts';
import { UseCollector } from '../../modules/key-usage/use-collector.ts';
import { UseRecords } from '../../modules/key-usage/use-records.ts';
import { LeakReports } from '../../modules/leaks/leak-reports.ts';
import { Leaks } from '../../modules/leaks/leaks.ts';
import { LeakMail } from '../../modules/leaks/notices.ts';
import { Entitlements } from '../../modules/scope-catalogue/entitlements.ts';
import { ScopeCatalogue } from '../../modules/scope-catalogue/scope-catalogue.ts';
import { Managers } from '../../modules/service-accounts/managers.ts';
import { ServiceAccounts } from '../../modules/service-accounts/service-accounts.ts';
import { Exchange } from '../../modules/short-lived-secrets/exchange.ts';
import { Verifier } from '../../modules/verification/verify.ts';
import type { WiringCore } from './core.ts';
import { newGithubReports } from './github-reports.ts';
import type { SignInServices } from './sign-in.ts';

export type KeyServices = ReturnType<typeof wireKeys>;

export function wireKeys(core: WiringCore, signIn: SignInServices) {
  const { config, keys } = core;
  const keyCore = {
    ...core,
    hash: keys.apiKeyHash,
    prefix: config.keyPrefix,
    keyPrefixes: acceptedPrefixes(config),
    environments: new Environments(config.environments, config.keyPrefix, config.forwardEnvironments === 'any'),
    hasCatalogue: config.scopes === 'catalogue',
    lifetimeDaysMax: config.keyLifetimeDaysMax,
  };
  const apiKeys = new ApiKeys({
    ...keyCore,
    onGivenHash: () => verification.verifier.importedKeys.expect(),
    keysPerAccountMax: config.keysPerAccountMax,
    creationNotices: new CreationNotices({ ...core, bucketHash: keys.rateLimitBucket }),
  });
  const { pending } = apiKeys;
  const keyChanges = new KeyChanges({ ...keyCore, pending });
  const owners = wireOwners(core, signIn);
  const verification = wireVerification({ ...keyCore, ...owners, pending }, signIn);
  return {
    ...owners,
    ...verification,
    ...wireLeaks({ ...keyCore, pending }),
    ...wireUpkeep(core, keyChanges),
    apiKeys,
    keyChanges,
    canaryKeys: new CanaryKeys({ ...keyCore, apiKeys, accounts: signIn.accounts.revocations }),
  };
}

/** Which account may have which keys. */
function wireOwners(core: WiringCore, signIn: SignInServices) {
  const accounts = signIn.accounts.revocations;
  return {
    entitlements: new Entitlements({ ...core, accounts, managedChanges: core.creationLimits }),
    managedAccount: managedAccount(core.db),
    managers: new Managers(core),
    scopeCatalogue: new ScopeCatalogue({ ...core, isEnforced: core.config.scopes === 'catalogue' }),
    serviceAccounts: new ServiceAccounts({ ...core, accounts }),
  };
}

interface VerificationCore extends WiringCore, Pick<ApiKeys, 'pending'>, ReturnType<typeof wireOwners> {
  readonly hash: WiringCore['keys']['apiKeyHash'];
  readonly keyPrefixes: readonly string[];
  readonly environments: Environments;
  readonly hasCatalogue: boolean;
}

function wireVerification(core: VerificationCore, { accounts, tokens }: SignInServices) {
  const { db, config, keys, log, requestLog } = core;
  const uses = new UseRecords(db, new UseCollector(), config.usageDays > 0);
  const quotaNotices = new QuotaNotices({
    ...core,
    onDropped: (count) => log?.warn({ event: 'quota_notices_dropped', count }),
  });
  const limiter = new KeyLimiter({ ...core, onQuotaReached: (quota) => quotaNotices.add(quota) });
  const verifier = new Verifier({
    ...core,
    limiter,
    tokens,
    pendingKeyChanges: core.pending,
    pendingAccountChanges: accounts.revocations.unfinished,
    pendingScopeChanges: core.hasCatalogue ? core.scopeCatalogue.pending : undefined,
    uses: uses.collector,
  });
  const exchange = new Exchange({
    ...core,
    bucketHash: config.isRateLimited ? keys.rateLimitBucket : undefined,
    audience: core.issuer,
    onRejected: ({ reason, keyId }) => requestLog?.noted({ event: 'assertion_rejected', reason }, { keyId }),
  });
  return { uses, quotaNotices, limiter, verifier, exchange };
}

function wireLeaks(core: Omit<VerificationCore, keyof ReturnType<typeof wireOwners>>) {
  const { config, log } = core;
  const notices = new LeakMail({ ...core, bucketHash: core.keys.rateLimitBucket });
  const leaks = new Leaks({ ...core, notices });
  return {
    leaks,
    /** Undefined unless KEYREEVE_LEAK_REPORTS is on. */
    leakReports: config.acceptsLeakReports ? new LeakReports(leaks, core.clock, core.areRequestsLimited) : undefined,
    /** Undefined if GitHub secret scanning is off. */
    githubReports: newGithubReports(config, leaks, log),
  };
}

/** What housekeeping does with keys and their usage. */
function wireUpkeep(core: WiringCore, keyChanges: KeyChanges) {
  const { config, db, log } = core;
  return {
    expiryNotices: new ExpiryNotices(core),
    keyUsage: new KeyUsage({ ...core, keyChanges, keptDays: config.usageDays }),
    orphanedMeters: new OrphanedMeters(db),
    unusedKeys: new UnusedKeys({
      ...core,
      unusedDaysMax: config.keyUnusedDaysMax,
      onDisabled: (count) => log?.info({ event: 'unused_keys_disabled', count }),
    }),
    usageRetention: new UsageRetention({ ...core, keptDays: config.usageDays }),
  };
}
