/** The values of the settings of single sign-on that a configuration without them has. */
export const singleSignOnDefaults = {
  ssoIssuer: undefined,
  ssoClientId: undefined,
  ssoClientSecret: undefined,
  ssoAdminClaim: undefined,
  ssoAdminValue: undefined,
  ssoScope: 'openid email',
  ssoName: 'single sign-on',
  mayAdministratorsUsePasswords: true,
} as const;
