/** The settings of single sign-on of administrators. Part of the table in settings.ts. */
import { flag, issuer, optional, shortText } from './config-values.ts';
import { setting } from './setting.ts';

export const singleSignOnSettings = {
  ssoIssuer: setting(
    'KEYREEVE_SSO_ISSUER',
    '',
    '[Single sign-on](single-sign-on.md) of administrators: the issuer, exactly as the OpenID provider states it. Set client and claim with it.',
    optional(issuer),
  ),
  ssoClientId: setting('KEYREEVE_SSO_CLIENT_ID', '', 'Id of the client at the OpenID provider.', optional(shortText)),
  ssoClientSecret: setting(
    'KEYREEVE_SSO_CLIENT_SECRET',
    '',
    'Secret of the client at the OpenID provider.',
    optional(shortText),
    {
      isSecret: true,
    },
  ),
  ssoAdminClaim: setting(
    'KEYREEVE_SSO_ADMIN_CLAIM',
    '',
    'Claim that makes a person an administrator, such as `groups`.',
    optional(shortText),
  ),
  ssoAdminValue: setting(
    'KEYREEVE_SSO_ADMIN_VALUE',
    '',
    'Value of `KEYREEVE_SSO_ADMIN_CLAIM`, or a value in its list, such as `keyreeve-admins`.',
    optional(shortText),
  ),
  ssoScope: setting(
    'KEYREEVE_SSO_SCOPE',
    'openid email',
    'Scopes that single sign-on requests, with `openid`.',
    shortText,
  ),
  ssoName: setting(
    'KEYREEVE_SSO_NAME',
    'single sign-on',
    'Name of single sign-on on the button of the sign-in page.',
    shortText,
  ),
  mayAdministratorsUsePasswords: setting(
    'KEYREEVE_ADMIN_PASSWORDS',
    'on',
    '`off`: administrators sign in with single sign-on only; their passwords and passkeys are rejected.',
    flag('on', ['on', 'off']),
  ),
} as const;
