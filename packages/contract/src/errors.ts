/**
 * The registry of errors: all codes with their HTTP status and public texts. Each code has a page at `/problems/<code>`
 * (RFC 9457 section 3.1.1).
 */
import type { ErrorDefinition } from './errors/definition.ts';
import { accountsErrors } from './errors/accounts.ts';
import { exchangesErrors } from './errors/exchanges.ts';
import { keysErrors } from './errors/keys.ts';
import { passkeysErrors } from './errors/passkeys.ts';
import { requestErrors } from './errors/request.ts';
import { serviceAccountsErrors } from './errors/service-accounts.ts';
import { signInErrors } from './errors/sign-in.ts';
import { singleSignOnErrors } from './errors/single-sign-on.ts';
import { verificationErrors } from './errors/verification.ts';
import { webhooksErrors } from './errors/webhooks.ts';

export const errors = {
  ...requestErrors,
  ...signInErrors,
  ...accountsErrors,
  ...verificationErrors,
  ...keysErrors,
  ...exchangesErrors,
  ...passkeysErrors,
  ...singleSignOnErrors,
  ...webhooksErrors,
  ...serviceAccountsErrors,
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;
