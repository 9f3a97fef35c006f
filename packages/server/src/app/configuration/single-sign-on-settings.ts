/** The settings of single sign-on of administrators. Part of the table in settings.ts. */
import { flag, issuer, optional, shortText } from './config-values.ts';
import { setting } from './setting.ts';

export const singleSignOnSettings = {
  ssoIssuer: setting(
    'KEYREEVE_SSO_ISSUER',
    '',
    '[Single sign-on](single-sign-on.md) of administrators: the issuer of the OpenID provider, exactly as the provider states it, for example `https://id.example.com/realms/staff`. Without it, there is none. The settings of the client and of the claim must be set with it.',
    optional(issuer),
  ),
  ssoClientId: setting(
    'KEYREEVE_SSO_CLIENT_ID',
    '',
    'The id of Keyreeve’s client at the provider.',
    optional(shortText),
  ),
  ssoClientSecret: setting('KEYREEVE_SSO_CLIENT_SECRET', '', 'The secret of that client.', optional(shortText), {
    isSecret: true,
  }),
  ssoAdminClaim: setting(
    'KEYREEVE_SSO_ADMIN_CLAIM',
    '',
    'The claim of the ID token that makes a person an administrator, for example `groups`.',
    optional(shortText),
  ),
  ssoAdminValue: setting(
    'KEYREEVE_SSO_ADMIN_VALUE',
    '',
    'The value that the claim must have, or must contain if it is a list, for example `keyreeve-admins`.',
    optional(shortText),
  ),
  ssoScope: setting(
    'KEYREEVE_SSO_SCOPE',
    'openid email',
    'The scopes that Keyreeve requests from the provider, separated by spaces. With `openid` among them.',
    shortText,
  ),
  ssoName: setting(
    'KEYREEVE_SSO_NAME',
    'single sign-on',
    'The name of the provider on the button of the sign-in page.',
    shortText,
  ),
  mayAdministratorsUsePasswords: setting(
    'KEYREEVE_ADMIN_PASSWORDS',
    'on',
    '`off`: administrators sign in with single sign-on only. Passwords and passkeys of administrators are rejected, with the response to a wrong one. It requires single sign-on.',
    flag('on', ['on', 'off']),
  ),
} as const;
