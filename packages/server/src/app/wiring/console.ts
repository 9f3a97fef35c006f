/** Creates the modules of the console. */
import { ConsoleConfiguration } from '../../modules/console/configuration.ts';
import { ConsoleSessions } from '../../modules/console/console-sessions.ts';
import { SessionCookie } from '../../modules/console/cookie.ts';
import type { Console } from '../../modules/console/routes.ts';
import { markPath } from '../../modules/look/look.ts';
import { singleSignOnOf } from '../configuration/single-sign-on-config.ts';
import type { Config } from '../configuration/config.ts';
import type { WiringCore } from './core.ts';
import type { SignInServices } from './sign-in.ts';

/** @returns undefined if the console is off */
export function wireConsole(wiring: WiringCore, signIn: SignInServices): Console | undefined {
  const { config, core, keys, issuer, mailer, rejectsAdministrators } = wiring;
  const { accounts, currentPassword, passkeySignIns, secondFactors, signIns } = signIn;
  if (!config.hasConsole) return undefined;
  const baseUrl = config.consoleUrl ?? issuer;
  const { origin } = new URL(baseUrl);
  const cookie = new SessionCookie(keys.consoleSessionHash, origin);
  const sessions = new ConsoleSessions({
    ...core,
    accounts,
    cookie,
    currentPassword,
    mailer,
    passkeys: passkeySignIns,
    rejectsAdministrators,
    secondFactors,
    signIns,
    idleTtlSeconds: config.refreshIdleTtlSeconds,
    maxTtlSeconds: config.refreshMaxTtlSeconds,
  });
  const { shown, features } = pageFactsOf(wiring);
  const configuration = new ConsoleConfiguration({
    ...core,
    fixed: {
      ...shown,
      origin,
      publicUrl: issuer,
      features: {
        ...features,
        signUp: config.isSignUpOpen,
        mail: config.smtpUrl !== undefined,
        passkeys: signIn.passkeys.isAvailable,
        passwordLengthMin: config.passwordLengthMin,
        singleSignOn: singleSignOnOf(config) ? config.ssoName : null,
        docs: config.hasDocs,
        scopesCatalogue: config.scopes === 'catalogue',
        serviceAccounts: config.hasConsoleServiceAccounts,
        managementKeys: config.hasManagementKeys,
      },
    },
  });
  return { origin, baseUrl, cookie, sessions, configuration };
}

/** What the pages with keys show of the settings. */
export const pageFactsOf = ({ config, issuer, look }: WiringCore) => ({
  shown: {
    product: look.operator,
    mark: look.mark ? markPath : null,
    verificationUrl: config.isPublicPortVerifying ? issuer : null,
    exampleRequest: exampleOf(config),
  },
  features: {
    usageDays: config.usageDays,
    keyDaysMax: config.keyLifetimeDaysMax ?? 0,
    environments: config.environments.map(({ name }) => name),
  },
});

const exampleOf = ({ apiUrl, apiExample: { method, path } = { method: 'GET', path: '/' } }: Config) =>
  apiUrl === undefined ? null : { method, url: apiUrl + path };
