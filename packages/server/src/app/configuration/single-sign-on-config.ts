/** Which settings of single sign-on belong together. */
import type { AdministratorClaim } from '../../modules/single-sign-on/claims.ts';
import type { singleSignOnSettings } from './single-sign-on-settings.ts';

type Settings = typeof singleSignOnSettings;
/** The part of the configuration that single sign-on depends on. */
type Values = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> };

export interface SingleSignOnConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  readonly administrator: AdministratorClaim;
}

/** @returns undefined unless all settings are set */
export function singleSignOnOf({
  ssoIssuer: issuer,
  ssoClientId: clientId,
  ssoClientSecret: clientSecret,
  ssoAdminClaim: name,
  ssoAdminValue: value,
  ssoScope: scope,
}: Values): SingleSignOnConfig | undefined {
  const isComplete = issuer && clientId && clientSecret && name && value;
  return isComplete ? { issuer, clientId, clientSecret, scope, administrator: { name, value } } : undefined;
}

/** @returns what is wrong with settings that are each valid */
export function singleSignOnMistakes(
  config: Values & { readonly hasConsole: boolean; readonly hasManagementKeys: boolean },
): string[] {
  const { ssoIssuer, ssoClientId, ssoClientSecret, ssoAdminClaim, ssoAdminValue } = config;
  const mistakes: string[] = [];
  const together = [ssoIssuer, ssoClientId, ssoClientSecret, ssoAdminClaim, ssoAdminValue];
  const isSet = together.some((value) => value !== undefined);
  if (isSet && !singleSignOnOf(config))
    mistakes.push(
      'KEYREEVE_SSO_ISSUER, KEYREEVE_SSO_CLIENT_ID, KEYREEVE_SSO_CLIENT_SECRET, KEYREEVE_SSO_ADMIN_CLAIM and KEYREEVE_SSO_ADMIN_VALUE must all be set, or none of them',
    );
  if (isSet && !config.hasConsole)
    mistakes.push('KEYREEVE_SSO_ISSUER needs the console: KEYREEVE_CONSOLE must not be off');
  if (isSet && !config.ssoScope.split(' ').includes('openid'))
    mistakes.push('KEYREEVE_SSO_SCOPE must contain the scope openid');
  if (!isSet && !config.mayAdministratorsUsePasswords)
    mistakes.push('KEYREEVE_ADMIN_PASSWORDS can be off only with KEYREEVE_SSO_ISSUER: no administrator could sign in');
  if (config.hasManagementKeys && !config.mayAdministratorsUsePasswords)
    mistakes.push(
      'KEYREEVE_CONSOLE_MANAGEMENT_KEYS can be on only if KEYREEVE_ADMIN_PASSWORDS is on: it requires the password of an administrator',
    );
  return mistakes;
}
