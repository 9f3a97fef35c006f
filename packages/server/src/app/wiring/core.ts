/** What the wiring of every area shares: the configuration, the installation, the deletion journal, and mail. */
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { HashingThreads } from '../../foundation/crypto/hashing-threads.ts';
import type { Argon2Parameters } from '../../foundation/crypto/password.ts';
import type { Log } from '../../foundation/log.ts';
import type { RequestLog } from '../../http/request-log.ts';
import { DeletionJournal } from '../../modules/deletion-journal/deletion-journal.ts';
import type { RecordingCore } from '../../modules/deletion-journal/revocation.ts';
import { Links } from '../../modules/mail/links.ts';
import { Mailer } from '../../modules/mail/mail.ts';
import { OneTimeCodes } from '../../modules/one-time-codes/one-time-codes.ts';
import { Outbox, type OutboxOptions } from '../../modules/outbox/outbox.ts';
import { processEnvironment, type Config, type Environment } from '../configuration/config.ts';
import { lookOf } from '../configuration/look-config.ts';
import { lifetimesOf } from '../configuration/mail-config.ts';
import type { Installation } from '../installation/installation.ts';

export interface WiringSettings {
  readonly config: Config;
  readonly clock: Clock;
  /** The source of the configuration. Default: that of the process. */
  readonly environment?: Environment | undefined;
  /** Undefined for commands. */
  readonly log?: Log;
  /** Default: the strength for production. Tests use cheaper hashes. */
  readonly argon2?: Argon2Parameters;
  /** Default: threads of this process. */
  readonly hashingThreads?: HashingThreads | undefined;
  /** False only in measurements and race tests: disables the limits on mail, one-time codes and second factors. */
  readonly areRequestsLimited?: boolean;
  /** Default: `limits.requestedMailDelayMsMax`. Tests with a fixed clock use a shorter delay. */
  readonly requestedMailDelayMsMax?: number;
}

export interface WiringOptions extends WiringSettings {
  readonly installation: Installation;
  /** The public URL. */
  readonly issuer: string;
  /** Of the master key that a service has started with; it is recorded with its process. */
  readonly masterKeyId?: string;
  readonly requestLog?: RequestLog;
}

/** The functions of each area pass to a class only what its options name. */
export type WiringCore = ReturnType<typeof newCore>;

export function newCore(options: WiringOptions) {
  const { config, clock, issuer, log } = options;
  const { db, keys } = options.installation;
  const { deletionJournal: folder, traceRatio } = config;
  const { requestedMailDelayMsMax: delayMsMax = limits.requestedMailDelayMsMax } = options;
  const journal = folder === undefined ? undefined : new DeletionJournal({ folder, db, clock, keys });
  const onFailure = log && logFailure(log);
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal, delayMsMax, traceRatio, onFailure });
  /** Options that extend `Core` or `RecordingCore` get it by a spread, and name what else they need. */
  const core: RecordingCore = { db, clock, revocations: journal };
  const look = lookOf(config, issuer);
  return {
    ...options,
    core,
    look,
    /** For the clients that read a secret again after its file has changed. */
    environment: options.environment ?? processEnvironment(),
    areRequestsLimited: options.areRequestsLimited ?? true,
    keys,
    /** The name of the service in mail and in authenticator apps. */
    product: look.operator,
    rejectsAdministrators: !config.mayAdministratorsUsePasswords,
    /** Undefined without rate limits. */
    creationLimits: config.isRateLimited
      ? { bucketHash: keys.rateLimitBucket, creationsPerMinuteMax: config.creationsPerMinuteMax }
      : undefined,
    /** Undefined if none is configured. */
    journal,
    /** Only a service starts it. */
    outbox,
    mailer: new Mailer(outbox, config.smtpUrl !== undefined),
    links: new Links(config.linksUrl ?? `${issuer}/account`, lifetimesOf(config)),
    codes: new OneTimeCodes(keys.oneTimeCodeHash),
  };
}

const logFailure =
  (log: Log): NonNullable<OutboxOptions['onFailure']> =>
  ({ error, isFinal, ...work }) =>
    log[isFinal ? 'error' : 'warn']({ event: isFinal ? 'outbox_given_up' : 'outbox_failed', ...work, err: error });
