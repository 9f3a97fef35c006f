/** Errors of single sign-on. Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';

export const singleSignOnErrors = {
  identity_provider_unavailable: {
    status: 503,
    title: 'The OpenID provider cannot be used',
    meaning:
      'The OpenID provider of the single sign-on cannot be reached, or its configuration does not match that of Keyreeve. Try again later. The log has the cause.',
  },
} as const satisfies Record<string, ErrorDefinition>;
