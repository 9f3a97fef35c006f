/** Errors of single sign-on. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';

export const singleSignOnErrors = {
  identity_provider_unavailable: {
    status: 503,
    title: 'The OpenID provider cannot be used',
    meaning:
      'The OpenID provider of the single sign-on cannot be reached, or its configuration does not match that of Keyreeve. Try again later. The log has the cause.',
    cause:
      'The provider did not respond in time, states another issuer than `KEYREEVE_SSO_ISSUER`, or rejects the client secret.',
    fix: 'Run `keyreeve doctor`, and read `single_sign_on_failed` in the log.',
  },
} as const satisfies Record<string, ErrorDefinition>;
