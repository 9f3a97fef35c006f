/** Creates the modules of single sign-on. `wiring.ts` calls it. */
import { singleSignOnCallbackPath } from '@keyreeve/contract';
import type { DomainError } from '../../foundation/errors.ts';
import type { Console } from '../../modules/console/routes.ts';
import { operatorName } from '../../modules/mail/sender.ts';
import { AuthorizationRequests } from '../../modules/single-sign-on/authorization-request.ts';
import { Identities } from '../../modules/single-sign-on/identities.ts';
import { Provider } from '../../modules/single-sign-on/provider.ts';
import type { SingleSignOnRoutes } from '../../modules/single-sign-on/routes.ts';
import { SingleSignOn } from '../../modules/single-sign-on/single-sign-on.ts';
import type { Log } from '../../foundation/log.ts';
import { latestSecret } from '../configuration/config.ts';
import { singleSignOnOf } from '../configuration/single-sign-on-config.ts';
import type { ConsoleWiring } from './console.ts';
import type { SignInServices } from './sign-in.ts';

export interface SingleSignOnServices {
  readonly identities: Identities;
  readonly provider: Provider;
  readonly routes: SingleSignOnRoutes;
}

/** @returns undefined unless it is configured */
export function wireSingleSignOn(
  { config, installation, clock, issuer: publicUrl, journal, environment }: ConsoleWiring,
  { accounts, signIns }: SignInServices,
  console: Console | undefined,
  log: Log | undefined,
): SingleSignOnServices | undefined {
  const settings = singleSignOnOf(config);
  if (!settings || !console) return undefined;
  const { db, keys } = installation;
  const { origin, cookie, sessions } = console;
  const { issuer, administrator } = settings;
  const latest = latestSecret(config, 'ssoClientSecret', environment);
  const provider = new Provider({
    ...settings,
    clientSecret: () => latest() ?? settings.clientSecret,
    redirectUri: console.baseUrl + singleSignOnCallbackPath,
  });
  const identities = new Identities({ db, clock, accounts, issuer, revocations: journal });
  const singleSignOn = new SingleSignOn({
    db,
    clock,
    hash: keys.singleSignOn,
    provider,
    requests: new AuthorizationRequests(keys.singleSignOn, origin),
    identities,
    signIns,
    sessions,
    administrator,
  });
  const routes: SingleSignOnRoutes = {
    singleSignOn,
    cookie,
    operator: operatorName(config.mailFrom, publicUrl),
    defaultLanguage: config.language,
    onFailed: (reason, error) => {
      // Any client can cause these without limit. The request has a log line of its own.
      const level = reason === 'expired' || reason === 'too_many_attempts' ? 'debug' : 'warn';
      log?.[level]({ event: 'single_sign_on_failed', reason, err: (error as DomainError).cause ?? error });
    },
  };
  return { identities, provider, routes };
}
