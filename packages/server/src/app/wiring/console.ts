/** Creates the modules of the console. `wiring.ts` calls it. */
import type { Clock } from '../../foundation/clock.ts';
import type { DeletionJournal } from '../../modules/deletion-journal/deletion-journal.ts';
import type { Mailer } from '../../modules/mail/mail.ts';
import { operatorName } from '../../modules/mail/sender.ts';
import { ConsoleConfiguration } from '../../modules/console/configuration.ts';
import { ConsoleSessions } from '../../modules/console/console-sessions.ts';
import { SessionCookie } from '../../modules/console/cookie.ts';
import type { Console } from '../../modules/console/routes.ts';
import type { Config, Environment } from '../configuration/config.ts';
import { singleSignOnOf } from '../configuration/single-sign-on-config.ts';
import type { Installation } from '../installation/installation.ts';
import type { SignInServices } from './sign-in.ts';

export interface ConsoleWiring {
  readonly config: Config;
  readonly installation: Installation;
  readonly clock: Clock;
  /** The public URL. */
  readonly issuer: string;
  readonly mailer: Mailer;
  /** Undefined if none is configured. */
  readonly journal: DeletionJournal | undefined;
  /** The source of the configuration. */
  readonly environment: Environment;
}

/** @returns undefined if the console is off */
export function wireConsole(options: ConsoleWiring, signIn: SignInServices): Console | undefined {
  const { config, installation, clock, issuer, mailer, journal } = options;
  if (!config.hasConsole) return undefined;
  const { db, keys } = installation;
  const baseUrl = config.consoleUrl ?? issuer;
  const { origin } = new URL(baseUrl);
  const cookie = new SessionCookie(keys.consoleSessionHash, origin);
  const { accounts, currentPassword, secondFactors, signIns } = signIn;
  const sessions = new ConsoleSessions({
    db,
    clock,
    accounts,
    cookie,
    currentPassword,
    mailer,
    passkeys: signIn.passkeySignIns,
    revocations: journal,
    secondFactors,
    signIns,
    idleTtlSeconds: config.refreshIdleTtlSeconds,
    maxTtlSeconds: config.refreshMaxTtlSeconds,
    rejectsAdministrators: !config.mayAdministratorsUsePasswords,
  });
  const configuration = new ConsoleConfiguration({
    db,
    clock,
    product: operatorName(config.mailFrom, issuer),
    origin,
    features: {
      signUp: config.isSignUpOpen,
      mail: config.smtpUrl !== undefined,
      passkeys: signIn.passkeys.isAvailable,
      usageDays: config.usageDays,
      keyDaysMax: config.keyLifetimeDaysMax ?? 0,
      passwordLengthMin: config.passwordLengthMin,
      environments: config.environments.map(({ name }) => name),
      singleSignOn: singleSignOnOf(config) ? config.ssoName : null,
      scopesCatalogue: config.scopes === 'catalogue',
    },
  });
  return { origin, baseUrl, cookie, sessions, configuration };
}
