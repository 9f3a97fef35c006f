/** Creates the modules of API keys: scopes, service accounts, usage, limits, and the verification of credentials. */
import { ApiKeys } from '../../modules/api-keys/api-keys.ts';
import { KeyChanges, type KeyChangesOptions } from '../../modules/api-keys/changes.ts';
import { CreationNotices } from '../../modules/api-keys/creation-notices.ts';
import { ExpiryNotices } from '../../modules/api-keys/expiry-notices.ts';
import { accountOfPortal, managedAccount } from '../../modules/api-keys/key-owner.ts';
import { QuotaNotices } from '../../modules/api-keys/quota-notices.ts';
import { UnusedKeys } from '../../modules/api-keys/unused-keys.ts';
import { CanaryKeys } from '../../modules/canary-keys/canary-keys.ts';
import type { PendingChanges } from '../../modules/deletion-journal/pending-changes.ts';
import { OrphanedMeters } from '../../modules/key-limits/orphaned-meters.ts';
import { StoredDraws } from '../../modules/key-limits/stored-draws.ts';
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
import { ClientCredentials } from '../../modules/short-lived-secrets/client-credentials.ts';
import { ExchangeResults } from '../../modules/short-lived-secrets/exchange-results.ts';
import { Exchange } from '../../modules/short-lived-secrets/exchange.ts';
import { KeyTokens } from '../../modules/short-lived-secrets/key-tokens.ts';
import { TokenExchange } from '../../modules/short-lived-secrets/token-exchange.ts';
import type { WiringCore } from './core.ts';
import { newGithubReports } from './github-reports.ts';
import { wireIssuers } from './issuers.ts';
import type { SignInServices } from './sign-in.ts';
import { keyRulesOf, wireVerifier } from './verification.ts';

export type KeyServices = ReturnType<typeof wireKeys>;

export function wireKeys(wiring: WiringCore, signIn: SignInServices) {
  const { config, core, creationLimits, keys, mailer } = wiring;
  const settings = {
    ...core,
    ...keyRulesOf(wiring),
    creationLimits,
    lifetimeDaysMax: config.keyLifetimeDaysMax,
  };
  const apiKeys = new ApiKeys({
    ...settings,
    onGivenHash: () => verification.verifier.importedKeys.expect(),
    keysPerAccountMax: config.keysPerAccountMax,
    creationNotices: new CreationNotices({ mailer, bucketHash: keys.rateLimitBucket }),
  });
  const options: KeyChangesOptions = { ...settings, pending: apiKeys.pending };
  const keyChanges = new KeyChanges(options);
  const owners = wireOwners(wiring, signIn);
  const issuers = wireIssuers(wiring);
  const changes = { keys: options.pending, scopes: owners.scopeCatalogue.pending, issuers: issuers.issuers.pending };
  const verification = wireVerification(wiring, changes, signIn);
  return {
    ...owners,
    ...issuers,
    ...verification,
    ...wireExchanges(wiring, issuers, verification),
    ...wireLeaks(wiring, options),
    ...wireUpkeep(wiring, keyChanges),
    keyTokens: new KeyTokens({ ...core, keyChanges }),
    apiKeys,
    keyChanges,
    canaryKeys: new CanaryKeys({ ...core, hash: settings.hash, apiKeys, accounts: signIn.accounts.revocations }),
  };
}

/** Which account may have which keys. */
function wireOwners({ config, core, creationLimits }: WiringCore, signIn: SignInServices) {
  const accounts = signIn.accounts.revocations;
  return {
    entitlements: new Entitlements({ ...core, accounts, managedChanges: creationLimits }),
    managedAccount: managedAccount(core.db),
    portalAccount: accountOfPortal(core.db),
    managers: new Managers({ ...core, creationLimits }),
    scopeCatalogue: new ScopeCatalogue({ ...core, isEnforced: config.scopes === 'catalogue' }),
    serviceAccounts: new ServiceAccounts({ ...core, accounts, creationLimits }),
  };
}

function wireVerification(
  wiring: WiringCore,
  changes: {
    readonly keys: PendingChanges<number>;
    readonly scopes: PendingChanges<string>;
    readonly issuers: PendingChanges<number>;
  },
  { accounts, tokens }: SignInServices,
) {
  const { config, core, issuer, keys, log } = wiring;
  const rules = keyRulesOf(wiring);
  const uses = new UseRecords(core.db, new UseCollector(), config.usageDays > 0);
  const quotaNotices = new QuotaNotices({
    ...core,
    onDropped: (count) => log?.warn({ event: 'quota_notices_dropped', count }),
  });
  const draws = new StoredDraws(core);
  const pending = { ...changes, accounts: accounts.revocations.unfinished };
  const verificationCore = { ...core, config, keys, issuer };
  const { limiter, verifier } = wireVerifier(verificationCore, {
    ...rules,
    tokens,
    pending,
    draws,
    uses: uses.collector,
    onQuotaReached: (quota) => quotaNotices.add(quota),
  });
  return { uses, quotaNotices, pending, draws, limiter, verifier };
}

/** What issues short-lived secrets. */
function wireExchanges(
  wiring: WiringCore,
  { identityTokens }: ReturnType<typeof wireIssuers>,
  { verifier }: Pick<ReturnType<typeof wireVerification>, 'verifier'>,
) {
  const { config, core, issuer, keys, requestLog } = wiring;
  const bucketHash = config.isRateLimited ? keys.rateLimitBucket : undefined;
  const parts = { ...core, ...keyRulesOf(wiring), bucketHash };
  return {
    exchange: new Exchange({ ...parts, audience: issuer }),
    tokenExchange: new TokenExchange({ ...parts, identityTokens }),
    clientCredentials: new ClientCredentials({ ...parts, verifier }),
    exchangeResults: new ExchangeResults(({ proof, reason, keyId }) =>
      requestLog?.noted({ event: `${proof}_rejected`, reason }, { keyId }),
    ),
  };
}

function wireLeaks(wiring: WiringCore, { pending }: Pick<ApiKeys, 'pending'>) {
  const { areRequestsLimited, config, core, keys, log, mailer } = wiring;
  const notices = new LeakMail({ mailer, bucketHash: keys.rateLimitBucket });
  const leaks = new Leaks({ ...core, ...keyRulesOf(wiring), notices, pending });
  return {
    leaks,
    /** Undefined unless KEYREEVE_LEAK_REPORTS is on. */
    leakReports: config.acceptsLeakReports ? new LeakReports(leaks, core.clock, areRequestsLimited) : undefined,
    /** Undefined if GitHub secret scanning is off. */
    githubReports: newGithubReports(config, leaks, log),
  };
}

/** What housekeeping does with keys and their usage. */
function wireUpkeep({ config, core, log, mailer }: WiringCore, keyChanges: KeyChanges) {
  return {
    expiryNotices: new ExpiryNotices({ ...core, mailer }),
    keyUsage: new KeyUsage({ ...core, keyChanges, keptDays: config.usageDays }),
    orphanedMeters: new OrphanedMeters(core.db),
    unusedKeys: new UnusedKeys({
      ...core,
      unusedDaysMax: config.keyUnusedDaysMax,
      onDisabled: (count) => log?.info({ event: 'unused_keys_disabled', count }),
    }),
    usageRetention: new UsageRetention({ ...core, keptDays: config.usageDays }),
  };
}
