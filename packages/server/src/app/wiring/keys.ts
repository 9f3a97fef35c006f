/** Creates the modules of API keys: scopes, service accounts, usage, limits, and the verification of credentials. */
import { ApiKeys } from '../../modules/api-keys/api-keys.ts';
import { KeyChanges } from '../../modules/api-keys/changes.ts';
import { CreationNotices } from '../../modules/api-keys/creation-notices.ts';
import { ExpiryNotices } from '../../modules/api-keys/expiry-notices.ts';
import { managedAccount } from '../../modules/api-keys/key-owner.ts';
import { QuotaNotices } from '../../modules/api-keys/quota-notices.ts';
import { touchKeys, touchPreviousSecrets } from '../../modules/api-keys/state-store.ts';
import { UnusedKeys } from '../../modules/api-keys/unused-keys.ts';
import { CanaryKeys } from '../../modules/canary-keys/canary-keys.ts';
import { OrphanedMeters } from '../../modules/key-limits/orphaned-meters.ts';
import { StoredDraws } from '../../modules/key-limits/stored-draws.ts';
import { KeyUsage } from '../../modules/key-usage/key-usage.ts';
import { UsageRetention } from '../../modules/key-usage/retention.ts';
import { addUsage } from '../../modules/key-usage/store.ts';
import { UsageCounter } from '../../modules/key-usage/usage-counter.ts';
import { LeakReports } from '../../modules/leaks/leak-reports.ts';
import { Leaks } from '../../modules/leaks/leaks.ts';
import { LeakMail } from '../../modules/leaks/notices.ts';
import { Entitlements } from '../../modules/scope-catalogue/entitlements.ts';
import { ScopeCatalogue } from '../../modules/scope-catalogue/scope-catalogue.ts';
import { Managers } from '../../modules/service-accounts/managers.ts';
import { ServiceAccounts } from '../../modules/service-accounts/service-accounts.ts';
import { Exchange } from '../../modules/short-lived-secrets/exchange.ts';
import type { WiringCore } from './core.ts';
import { newGithubReports } from './github-reports.ts';
import type { SignInServices } from './sign-in.ts';
import { keyRulesOf, wireVerifier } from './verification.ts';

export type KeyServices = ReturnType<typeof wireKeys>;

export function wireKeys(core: WiringCore, signIn: SignInServices) {
  const { config, keys } = core;
  const keyCore = {
    ...core,
    ...keyRulesOf(core),
    prefix: config.keyPrefix,
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

interface KeyCore extends WiringCore, Pick<ApiKeys, 'pending'>, ReturnType<typeof keyRulesOf> {}

function wireVerification(
  core: KeyCore & ReturnType<typeof wireOwners>,
  { accounts, tokens }: Pick<SignInServices, 'accounts' | 'tokens'>,
) {
  const { db, config, keys, log, requestLog } = core;
  // Undefined if verifications are not counted.
  const usageCounter = config.usageDays === 0 ? undefined : new UsageCounter((hours) => addUsage(db, hours));
  const quotaNotices = new QuotaNotices({
    ...core,
    onDropped: (count) => log?.warn({ event: 'quota_notices_dropped', count }),
  });
  const draws = new StoredDraws(core);
  const pending = {
    keys: core.pending,
    accounts: accounts.revocations.unfinished,
    scopes: core.scopeCatalogue.pending,
  };
  const { limiter, verifier } = wireVerifier(core, {
    ...core,
    tokens,
    pending,
    draws,
    usage: usageCounter,
    writeLastUses: (uses) => touchKeys(db, uses),
    writePreviousLastUses: (uses) => touchPreviousSecrets(db, uses),
    onQuotaReached: (quota) => quotaNotices.add(quota),
  });
  const exchange = new Exchange({
    ...core,
    bucketHash: config.isRateLimited ? keys.rateLimitBucket : undefined,
    audience: core.issuer,
    onRejected: ({ reason, keyId }) => requestLog?.noted({ event: 'assertion_rejected', reason }, { keyId }),
  });
  return { usageCounter, quotaNotices, pending, draws, limiter, verifier, exchange };
}

function wireLeaks(core: KeyCore) {
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
