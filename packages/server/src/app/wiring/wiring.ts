/** Creates all modules and connects them. `service.ts` adds HTTP, `cli/` the command line. */
import { limits } from '@keyreeve/contract';
import { SelfService } from '../../modules/self-service/self-service.ts';
import { Administration } from '../../modules/administration/administration.ts';
import { Directory } from '../../modules/administration/directory.ts';
import { EmailSetting } from '../../modules/administration/email-setting.ts';
import { FirstAdministrator } from '../../modules/administration/first-administrator.ts';
import { MailTest } from '../../modules/administration/mail-test.ts';
import { OutboxView } from '../../modules/administration/outbox-view.ts';
import { KeyFinder } from '../../modules/administration/key-finder.ts';
import type { RequestLog } from '../../http/request-log.ts';
import { managedAccount, type OwnerOf } from '../../modules/api-keys/key-owner.ts';
import { ApiKeys } from '../../modules/api-keys/api-keys.ts';
import { CanaryKeys } from '../../modules/canary-keys/canary-keys.ts';
import type { CanaryInstance } from '../../modules/canary-keys/routes.ts';
import { CreationNotices } from '../../modules/api-keys/creation-notices.ts';
import { QuotaNotices } from '../../modules/api-keys/quota-notices.ts';
import { Environments } from '../../modules/api-keys/environments.ts';
import { acceptedPrefixes } from '../../modules/api-keys/key-prefixes.ts';
import { UnusedKeys } from '../../modules/api-keys/unused-keys.ts';
import { KeyChanges } from '../../modules/api-keys/changes.ts';
import { ExpiryNotices } from '../../modules/api-keys/expiry-notices.ts';
import { Entitlements } from '../../modules/scope-catalogue/entitlements.ts';
import { ScopeCatalogue } from '../../modules/scope-catalogue/scope-catalogue.ts';
import type { Clock } from '../../foundation/clock.ts';
import { findingsOf } from '../installation/checks.ts';
import { processEnvironment, type Config, type Environment } from '../configuration/config.ts';
import { lifetimesOf } from '../configuration/mail-config.ts';
import { deleteCodeFile } from '../installation/first-start.ts';
import { newGithubReports } from './github-reports.ts';
import { KeyLimiter } from '../../modules/key-limits/key-limits.ts';
import { OrphanedMeters } from '../../modules/key-limits/orphaned-meters.ts';
import { type Argon2Parameters } from '../../foundation/crypto/password.ts';
import { KeyUsage } from '../../modules/key-usage/key-usage.ts';
import { AuditRetention } from '../../modules/audit-retention/audit-retention.ts';
import type { CutResult } from '../../modules/audit-retention/audit-cutter.ts';
import { blockDetails } from '../../modules/audit-retention/block-details.ts';
import { UsageRetention } from '../../modules/key-usage/retention.ts';
import { addUsage } from '../../modules/key-usage/store.ts';
import { UsageCounter } from '../../modules/key-usage/usage-counter.ts';
import { OneTimeCodes } from '../../modules/one-time-codes/one-time-codes.ts';
import { DeletionJournal } from '../../modules/deletion-journal/deletion-journal.ts';
import type { Installation } from '../installation/installation.ts';
import type { GithubReports } from '../../modules/leaks/github-reports.ts';
import type { Log } from '../../foundation/log.ts';
import { Leaks } from '../../modules/leaks/leaks.ts';
import { LeakMail } from '../../modules/leaks/notices.ts';
import { LeakReports } from '../../modules/leaks/leak-reports.ts';
import { Links } from '../../modules/mail/links.ts';
import { Mailer } from '../../modules/mail/mail.ts';
import { operatorName } from '../../modules/mail/sender.ts';
import { Outbox, type OutboxOptions } from '../../modules/outbox/outbox.ts';
import { Estimates } from '../../modules/overview/estimates.ts';
import { Minutes } from '../../modules/overview/minutes.ts';
import { Attention } from '../../modules/overview/attention.ts';
import { Overview } from '../../modules/overview/overview.ts';
import { Managers } from '../../modules/service-accounts/managers.ts';
import { ServiceAccounts } from '../../modules/service-accounts/service-accounts.ts';
import { Exchange } from '../../modules/short-lived-secrets/exchange.ts';
import { Verifier } from '../../modules/verification/verify.ts';
import { Webhooks } from '../../modules/webhooks/webhooks.ts';
import type { Console } from '../../modules/console/routes.ts';
import { version } from '../version.ts';
import { wireConsole } from './console.ts';
import { handleMail } from './mail.ts';
import { wireSignIn, type SignInServices } from './sign-in.ts';
import { wireSingleSignOn, type SingleSignOnServices } from './single-sign-on.ts';
import type { HashingThreads } from '../../foundation/crypto/hashing-threads.ts';

export interface Services extends SignInServices {
  /** Undefined if it is off. */
  readonly console: Console | undefined;
  readonly selfService: SelfService;
  readonly administration: Administration;
  readonly apiKeys: ApiKeys;
  readonly canaryKeys: CanaryKeys;
  readonly canaryInstance: CanaryInstance;
  readonly keyChanges: KeyChanges;
  readonly keyUsage: KeyUsage;
  readonly unusedKeys: UnusedKeys;
  readonly codes: OneTimeCodes;
  readonly directory: Directory;
  readonly emailSetting: EmailSetting;
  readonly entitlements: Entitlements;
  readonly exchange: Exchange;
  readonly expiryNotices: ExpiryNotices;
  readonly firstAdministrator: FirstAdministrator;
  /** Undefined if GitHub secret scanning is off. */
  readonly githubReports: GithubReports | undefined;
  /** Undefined if none is configured. */
  readonly journal: DeletionJournal | undefined;
  readonly keyFinder: KeyFinder;
  readonly leaks: Leaks;
  /** Undefined unless KEYREEVE_LEAK_REPORTS is on. */
  readonly leakReports: LeakReports | undefined;
  readonly limiter: KeyLimiter;
  readonly links: Links;
  readonly mailer: Mailer;
  readonly mailTest: MailTest;
  readonly managedAccount: OwnerOf;
  /** Only a service starts it. */
  readonly outbox: Outbox;
  readonly outboxView: OutboxView;
  /** Only a service starts it. */
  readonly minutes: Minutes;
  readonly estimates: Estimates;
  readonly overview: Overview;
  readonly orphanedMeters: OrphanedMeters;
  readonly quotaNotices: QuotaNotices;
  readonly managers: Managers;
  readonly scopeCatalogue: ScopeCatalogue;
  readonly serviceAccounts: ServiceAccounts;
  /** Undefined unless it is configured. */
  readonly singleSignOn: SingleSignOnServices | undefined;
  readonly auditRetention: AuditRetention;
  readonly usageRetention: UsageRetention;
  /** Undefined if verifications are not counted. */
  readonly usageCounter: UsageCounter | undefined;
  readonly verifier: Verifier;
  readonly webhooks: Webhooks;
}

export interface WiringOptions {
  readonly config: Config;
  readonly installation: Installation;
  readonly clock: Clock;
  /** The public URL. */
  readonly issuer: string;
  /** Of the master key that a service has started with; it is recorded with its process. */
  readonly masterKeyId?: string;
  /** Default: the strength for production. Tests use cheaper hashes. */
  readonly argon2?: Argon2Parameters;
  readonly hashingThreads?: HashingThreads | undefined;
  /** False only in measurements and race tests: disables the limits on mail, one-time codes and second factors. */
  readonly areRequestsLimited?: boolean;
  /** Default: `limits.requestedMailDelayMsMax`. Tests with a fixed clock use a shorter delay. */
  readonly requestedMailDelayMsMax?: number;
  /** Undefined for commands. */
  readonly log?: Log;
  /** The source of the configuration. Default: that of the process. */
  readonly environment?: Environment | undefined;
  readonly requestLog?: RequestLog;
}

export function wire(options: WiringOptions): Services {
  const { config, installation, clock, issuer, areRequestsLimited = true, log, requestLog } = options;
  const { db, keys } = installation;
  const { requestedMailDelayMsMax: delayMsMax = limits.requestedMailDelayMsMax } = options;
  const onFailure = log && logFailure(log);
  const { traceRatio } = config;
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal, delayMsMax, traceRatio, onFailure });
  const mailer = new Mailer(outbox, config.smtpUrl !== undefined);
  const links = new Links(config.linksUrl ?? `${issuer}/account`, lifetimesOf(config));
  const product = operatorName(config.mailFrom, issuer);
  const { environment = processEnvironment() } = options;
  const codes = new OneTimeCodes(keys.oneTimeCodeHash);
  const server = handleMail(outbox, { db, clock, codes, links, product }, config, environment);
  const { deletionJournal: folder } = config;
  const journal = folder === undefined ? undefined : new DeletionJournal({ folder, db, clock, keys });
  const webhooks = new Webhooks({
    db,
    clock,
    seal: keys.webhookSeal,
    outbox,
    targets: config.webhookTargets,
    revocations: journal,
    onFailure: (error) => log?.warn({ event: 'webhooks_not_followed', err: error }),
    onLogFailure: (error) => log?.warn({ event: 'webhook_deliveries_not_logged', err: error }),
  });
  const signIn = wireSignIn({
    config,
    installation,
    clock,
    issuer,
    argon2: options.argon2,
    hashingThreads: options.hashingThreads,
    areRequestsLimited,
    log,
    mailer,
    journal,
  });
  const consoleOptions = { config, installation, clock, issuer, mailer, journal, environment };
  const console = wireConsole(consoleOptions, signIn);
  const { hasher, rules, secondFactors, signInLimits, accounts, requests, currentPassword, tokens } = signIn;
  const { isRateLimited: enabled } = config;
  const hasCatalogue = config.scopes === 'catalogue';
  const scopeCatalogue = new ScopeCatalogue({ db, clock, isEnforced: hasCatalogue, revocations: journal });
  const environments = new Environments(config.environments, config.keyPrefix, config.forwardEnvironments === 'any');
  const creationLimits = enabled
    ? { bucketHash: keys.throttleBucket, creationsPerMinuteMax: config.creationsPerMinuteMax }
    : undefined;
  const keyOptions = {
    db,
    clock,
    hash: keys.apiKeyHash,
    prefix: config.keyPrefix,
    environments,
    hasCatalogue,
    lifetimeDaysMax: config.keyLifetimeDaysMax,
    creationLimits,
    revocations: journal,
  };
  const apiKeys = new ApiKeys({
    ...keyOptions,
    onGivenHash: () => verifier.importedKeys.expect(),
    keysPerAccountMax: config.keysPerAccountMax,
    creationNotices: new CreationNotices({ mailer, bucketHash: keys.throttleBucket }),
  });
  const keyChanges = new KeyChanges({ ...keyOptions, pending: apiKeys.pending });
  const usageCounter = config.usageDays === 0 ? undefined : new UsageCounter((hours) => addUsage(db, hours));
  const keyUsage = new KeyUsage({ db, clock, keyChanges, keptDays: config.usageDays });
  const selfService = new SelfService({
    db,
    clock,
    hasher,
    rules,
    currentPassword,
    secondFactors,
    signInLimits,
    requests,
    codes,
    outbox,
    mailer,
    links,
    accounts: accounts.revocations,
    revocations: journal,
    isSignUpOpen: config.isSignUpOpen,
  });
  const quotaNotices = new QuotaNotices({
    db,
    clock,
    onDropped: (count) => log?.warn({ event: 'quota_notices_dropped', count }),
  });
  const limiter = new KeyLimiter({ db, clock, onQuotaReached: (quota) => quotaNotices.add(quota) });
  const keyPrefixes = acceptedPrefixes(config);
  const leaks = new Leaks({
    db,
    clock,
    hash: keys.apiKeyHash,
    keyPrefixes,
    pending: apiKeys.pending,
    notices: new LeakMail({ mailer, bucketHash: keys.throttleBucket }),
    revocations: journal,
  });
  const verifier = new Verifier({
    db,
    clock,
    limiter,
    hash: keys.apiKeyHash,
    tokens,
    pendingKeyChanges: apiKeys.pending,
    pendingAccountChanges: accounts.revocations.unfinished,
    pendingScopeChanges: hasCatalogue ? scopeCatalogue.pending : undefined,
    usage: usageCounter,
    keyPrefixes,
    environments,
  });
  const exchange = new Exchange({
    ...keyOptions,
    bucketHash: enabled ? keys.throttleBucket : undefined,
    audience: issuer,
    onRejected: ({ reason, keyId }) => requestLog?.noted({ event: 'assertion_rejected', reason }, { keyId }),
  });
  const administration = new Administration({
    managedChanges: creationLimits,
    db,
    clock,
    accounts,
    apiKeys,
    keyChanges,
    keyUsage,
    codes,
    links,
    mailer,
    signInLimits,
    revocations: journal,
  });
  const emailSetting = new EmailSetting({ db, clock, codes, mailer });
  const directory = new Directory(db, clock);
  const firstAdministrator = new FirstAdministrator({
    db,
    clock,
    codes,
    hasher,
    rules,
    onCreated: () => deleteCodeFile(config),
  });
  const minutes = new Minutes({
    db,
    clock,
    version,
    // Only a service records its process.
    masterKeyId: options.masterKeyId ?? '',
    rootKeyVersion: options.masterKeyId === undefined ? undefined : keys.version,
    sources: {
      results: verifier.counts,
      verificationMs: verifier.durations,
      signIns: signIn.signIns.counts,
      hashes: () => ({ hashed: hasher.stats.hashed, refused: hasher.stats.refused }),
    },
  });
  return {
    ...signIn,
    console,
    selfService,
    administration,
    directory,
    emailSetting,
    firstAdministrator,
    apiKeys,
    canaryKeys: new CanaryKeys({ db, clock, hash: keys.apiKeyHash, apiKeys, accounts: accounts.revocations }),
    canaryInstance: { id: minutes.id, version, database: db.dialect, now: () => clock.now() },
    keyChanges,
    keyUsage,
    codes,
    exchange,
    entitlements: new Entitlements({
      db,
      clock,
      accounts: accounts.revocations,
      managedChanges: creationLimits,
      revocations: journal,
    }),
    expiryNotices: new ExpiryNotices({ db, clock, mailer }),
    githubReports: newGithubReports(config, leaks, log),
    journal,
    keyFinder: new KeyFinder({ db, clock, hash: keys.apiKeyHash, apiKeys }),
    leaks,
    leakReports: config.acceptsLeakReports ? new LeakReports(leaks, clock, areRequestsLimited) : undefined,
    limiter,
    links,
    mailer,
    mailTest: new MailTest({ clock, accounts, requests, server, product }),
    managedAccount: managedAccount(db),
    orphanedMeters: new OrphanedMeters(db),
    outbox,
    outboxView: new OutboxView(db, clock, outbox),
    minutes,
    estimates: new Estimates(db),
    overview: new Overview({
      db,
      clock,
      outbox,
      hasher,
      attention: new Attention({
        db,
        clock,
        outbox,
        endpoints: webhooks.endpoints,
        signingKeys: signIn.signingKeys,
        findings: () => findingsOf({ config, db }),
      }),
      newestEvents: async (max) => (await directory.auditLog.page({ limit: String(max) })).events,
    }),
    quotaNotices,
    managers: new Managers({ db, clock, creationLimits, revocations: journal }),
    scopeCatalogue,
    serviceAccounts: new ServiceAccounts({ db, clock, accounts: accounts.revocations, creationLimits }),
    singleSignOn: wireSingleSignOn(consoleOptions, signIn, console, log),
    unusedKeys: new UnusedKeys({
      db,
      clock,
      unusedDaysMax: config.keyUnusedDaysMax,
      revocations: journal,
      onDisabled: (count) => log?.info({ event: 'unused_keys_disabled', count }),
    }),
    auditRetention: new AuditRetention({
      db,
      clock,
      keys,
      journal,
      keptDays: config.auditDays,
      onRun: (result) => logRun(log, result),
    }),
    usageRetention: new UsageRetention({ db, clock, keptDays: config.usageDays }),
    usageCounter,
    verifier,
    webhooks,
  };
}

const logRun = (log: Log | undefined, { removed, blocked }: CutResult): void => {
  if (blocked) log?.warn({ event: 'audit_cut_blocked', reason: blocked, removed, detail: blockDetails[blocked] });
  else log?.info({ event: 'audit_cut', removed });
};

const logFailure =
  (log: Log): NonNullable<OutboxOptions['onFailure']> =>
  ({ error, isFinal, ...work }) =>
    log[isFinal ? 'error' : 'warn']({ event: isFinal ? 'outbox_given_up' : 'outbox_failed', ...work, err: error });
