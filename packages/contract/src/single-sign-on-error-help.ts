/** Cause and fix of the errors of single sign-on. Part of the texts in error-help.ts. */
import type { ErrorHelp } from './error-definition.ts';
import type { singleSignOnErrors } from './single-sign-on-errors.ts';

export const singleSignOnErrorHelp: Readonly<Record<keyof typeof singleSignOnErrors, ErrorHelp>> = {
  identity_provider_unavailable: {
    cause:
      'The provider did not respond in time, states another issuer than `KEYREEVE_SSO_ISSUER`, or rejects the client secret.',
    fix: 'Run `keyreeve doctor`, and read `single_sign_on_failed` in the log.',
  },
};
