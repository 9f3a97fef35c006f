/**
 * The registry of errors: all codes with their HTTP status and public texts. Each code has a page at `/problems/<code>`
 * (RFC 9457 section 3.1.1).
 */
import type { ErrorDefinition } from './errors/definition.ts';
import { accountErrors } from './errors/accounts.ts';
import { approvalErrors } from './errors/approvals.ts';
import { exchangeErrors } from './errors/exchanges.ts';
import { issuerErrors } from './errors/issuers.ts';
import { keyErrors } from './errors/keys.ts';
import { passkeyErrors } from './errors/passkeys.ts';
import { portalErrors } from './errors/portal.ts';
import { requestErrors } from './errors/request.ts';
import { serviceAccountErrors } from './errors/service-accounts.ts';
import { signInErrors } from './errors/sign-in.ts';
import { singleSignOnErrors } from './errors/single-sign-on.ts';
import { verificationErrors } from './errors/verification.ts';
import { webhookErrors } from './errors/webhooks.ts';

export const errors = {
  ...requestErrors,
  ...signInErrors,
  ...accountErrors,
  ...verificationErrors,
  ...keyErrors,
  ...exchangeErrors,
  ...issuerErrors,
  ...approvalErrors,
  ...passkeyErrors,
  ...singleSignOnErrors,
  ...webhookErrors,
  ...serviceAccountErrors,
  ...portalErrors,
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;
