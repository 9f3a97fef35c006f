/** Creates the modules of single sign-on. */
import { singleSignOnCallbackPath } from '@keyreeve/contract';
import { BasePath } from '../../http/base-path.ts';
import type { DomainError } from '../../foundation/errors.ts';
import type { Console } from '../../modules/console/routes.ts';
import { AuthorizationRequests } from '../../modules/single-sign-on/authorization-request.ts';
import { Identities } from '../../modules/single-sign-on/identities.ts';
import { Provider } from '../../modules/single-sign-on/provider.ts';
import type { SingleSignOnRoutes } from '../../modules/single-sign-on/routes.ts';
import { SingleSignOn } from '../../modules/single-sign-on/single-sign-on.ts';
import { latestSecret } from '../configuration/config.ts';
import { singleSignOnOf } from '../configuration/single-sign-on-config.ts';
import type { WiringCore } from './core.ts';
import type { SignInServices } from './sign-in.ts';

/** @returns undefined unless it is configured */
export function wireSingleSignOn(wiring: WiringCore, { accounts, signIns }: SignInServices, console: Console) {
  const { config, core, environment, keys, log, look } = wiring;
  const settings = singleSignOnOf(config);
  if (!settings) return undefined;
  const { origin, cookie, sessions } = console;
  const { issuer, administrator } = settings;
  const latest = latestSecret(config, 'ssoClientSecret', environment);
  const provider = new Provider({
    ...settings,
    clientSecret: () => latest() ?? settings.clientSecret,
    redirectUri: console.baseUrl + singleSignOnCallbackPath,
  });
  const identities = new Identities({ ...core, accounts, issuer });
  const singleSignOn = new SingleSignOn({
    ...core,
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
    look,
    basePath: new BasePath(console.baseUrl),
    defaultLanguage: config.language,
    onFailed: (reason, error) => {
      // Any client can cause these without limit. The request has a log line of its own.
      const level = reason === 'expired' || reason === 'too_many_attempts' ? 'debug' : 'warn';
      log?.[level]({ event: 'single_sign_on_failed', reason, err: (error as DomainError).cause ?? error });
    },
  };
  return { identities, provider, routes };
}
