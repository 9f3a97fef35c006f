/** Errors of programs, of device codes (RFC 8628 section 3.5) and of approvals. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId, waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

export const approvalErrors = {
  authorization_pending: {
    status: 400,
    title: 'The request is not decided yet',
    meaning: 'The person has neither approved nor denied the request. Poll again after the interval.',
    cause: 'The person has not opened the link, or has neither approved nor denied.',
    fix: `Wait for the \`interval\` of the first response, then send the request again, until \`expired_token\`.`,
  },
  slow_down: {
    status: 400,
    title: 'The program polls too often',
    meaning: `The previous poll was less than the interval ago, another one has just fetched the key, or the account creates too many keys. Add ${limits.deviceIntervalSeconds} seconds to the interval, and poll again.`,
    cause: 'Two polls with one device code follow each other faster than the interval.',
    fix: `Add ${limits.deviceIntervalSeconds} seconds to the interval, for this and all later polls.`,
  },
  access_denied: {
    status: 400,
    title: 'The request was denied',
    meaning:
      'The person denied the request, or the approval is no longer in force: its session has ended; the account was disabled, must enrol a second factor, lacks an entitlement or has the maximum number of keys; or the program may no longer have these scopes or this lifetime.',
    cause: 'The person denied the request, or rights were removed between the approval and the poll.',
    fix: 'Start again with `POST /auth/oauth/device`. The audit log has the cause.',
  },
  expired_token: {
    status: 400,
    title: 'The device code has expired',
    meaning: `A device code is valid for ${limits.deviceRequestSeconds / 60} minutes.`,
    cause: 'The request was not approved, or the key not fetched, in this time.',
    fix: 'Start again with `POST /auth/oauth/device`.',
  },
  unsupported_token_type: {
    status: 400,
    title: 'The token cannot be revoked here',
    meaning: 'A program revokes only the API key that it made. The token is a credential of another kind.',
    cause: 'The token is a short-lived secret, an access token, a refresh token or a code.',
    fix: 'Send the API key. Its deletion also ends its short-lived secrets. To end a session, call `POST /auth/token/revoke`.',
  },
  too_many_device_requests: {
    status: 429,
    title: 'Too many outstanding requests',
    meaning: `A program has at most ${limits.deviceRequestsPerRangeMax} outstanding requests from one client IP range. Each ends after ${limits.deviceRequestSeconds / 60} minutes, or when a person decides.`,
    cause: 'Clients in this client IP range have started sign-ins that are not decided.',
    fix: waitAndRetry,
  },
  too_many_codes: {
    status: 429,
    title: 'Too many wrong codes',
    meaning: `An account enters at most ${limits.wrongCodesPerAccountMax} wrong codes of programs in an hour, and all accounts of a client IP range ${limits.wrongCodesPerRangeMax}, and then one each.`,
    cause: 'This account, or accounts in this client IP range, entered wrong codes.',
    fix: waitAndRetry,
  },
  approval_not_found: {
    status: 404,
    title: 'No request has this code',
    meaning: 'No request waits for an approval with this code. It may have expired, or have been decided.',
    cause: 'The code is mistyped, older than 10 minutes, or used.',
    fix: 'Compare the code with the one that the program shows, or start the sign-in of the program again.',
  },
  approval_decided: {
    status: 409,
    title: 'The request is decided',
    meaning: 'The request has been approved or denied, for example in another tab.',
    cause: 'The request does not wait for a decision any more.',
    fix: 'No action is necessary. If the program has no key, start its sign-in again.',
  },
  program_not_found: {
    status: 404,
    title: 'No such program',
    meaning: 'No program has this id.',
    cause: 'No program has this id. It may have been removed.',
    fix: checkId,
  },
  program_taken: {
    status: 409,
    title: 'The program exists',
    meaning: 'A program with this id exists. Change that one.',
    cause: 'A program with the same id has been added already.',
    fix: 'Change the existing program with `PATCH`, or choose another id.',
  },
  program_limit_reached: {
    status: 409,
    title: 'The maximum number of programs exists',
    meaning: `There are at most ${limits.programsMax} programs. Remove one that is no longer used.`,
    cause: 'The installation has the maximum number of programs.',
    fix: 'Remove one that is no longer used. `keys` in the list is the number of its keys.',
  },
} as const satisfies Record<string, ErrorDefinition>;
