/** Errors of sign-ins, sessions and second factors. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId, signInAgain, waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

export const signInErrors = {
  invalid_credentials: {
    status: 401,
    title: 'Email or password is wrong',
    meaning:
      'No enabled account has this email and this password. Send both as `Authorization: Basic base64("<email>:<password>")` in UTF-8; with a code from a mail, send the matching password in the body.',
    cause: 'No enabled account has this email and this password.',
    fix: 'Check both, and that the Authorization header is the base64 of `email:password` in UTF-8. The owner can reset the password.',
  },
  missing_access_token: {
    status: 401,
    title: 'An access token is required',
    meaning:
      'Send `Authorization: Bearer <accessToken>` with a token from POST /auth/token. API keys cannot manage keys.',
    cause: 'The request has no access token.',
    fix: 'Sign in with `POST /auth/token` and send its `accessToken` as `Authorization: Bearer <accessToken>`.',
  },
  invalid_access_token: {
    status: 401,
    title: 'The access token is not valid',
    meaning: 'It is malformed, forged, expired, or its session or account has ended. Refresh it or sign in again.',
    cause:
      'The access token is malformed or expired, or its session or account has ended. An API key is not accepted here.',
    fix: signInAgain,
  },
  invalid_refresh_token: {
    status: 401,
    title: 'The refresh token is not valid',
    meaning: 'It is malformed, unknown or expired, or its session has ended. Sign in again.',
    cause: 'The refresh token is malformed, unknown or expired, or its session has ended.',
    fix: 'Sign in again with `POST /auth/token`.',
  },
  refresh_token_reused: {
    status: 401,
    title: 'The refresh token was used before',
    meaning: 'A replaced token was used again, so it may have been copied. The session has ended. Sign in again.',
    cause: 'A replaced refresh token was used again, possibly by someone who copied it.',
    fix: 'Sign in again. Store the new refresh token of each response before using it, in one place only.',
  },
  ambiguous_credentials: {
    status: 401,
    title: 'The request carries more than one credential',
    meaning: 'Send exactly one: one Authorization header or one X-API-Key header, with one value.',
    cause: 'The request has two credentials, for example Authorization and X-API-Key, or one header with two values.',
    fix: 'Send one header with one credential. Check whether a proxy or a client library adds a second one.',
  },
  console_session_required: {
    status: 401,
    title: 'A session of the console is required',
    meaning:
      'The request has no session cookie, or its session has ended. Sign in to the console again. Scripts use the same paths without `/console/api`, with an access token.',
    cause:
      'The browser has no session of the console, the session was idle for too long, or it was ended: by a sign-out, a new password, an administrator, or a confirmation that replaced the cookie.',
    fix: 'Sign in at `/console`. In a script, use the path without `/console/api` and send an access token from `POST /auth/token`.',
  },
  cross_origin_request: {
    status: 403,
    title: 'The request comes from another origin',
    meaning:
      'Requests with the session cookie must have the header `X-Keyreeve-Console` (`user` or `background`) and come from a page of the console’s own origin. Only the key page, at the origin of the public URL, redeems the token of a portal session.',
    cause:
      'A page of another origin, a form or a script outside of the console or the key page sent the request, or a proxy changed the headers `Origin` or `Sec-Fetch-Site`.',
    fix: 'Open the console at its own origin (`KEYREEVE_CONSOLE_URL`, by default the public URL), and portal sessions at the `url` of their response. In a script, use the path without `/console/api` and send an access token.',
  },
  second_factor_required: {
    status: 401,
    title: 'A second factor is required',
    meaning:
      'The email and the password are correct. Repeat the request with the header X-Keyreeve-OTP: the six digits that the authenticator shows, or a recovery code. If the response has `passkey`, a passkey is possible as well: POST /auth/token/passkey.',
    cause: 'The email and the password are correct, and the account has a second factor.',
    fix: 'Ask the user for the code and repeat the request with the header `X-Keyreeve-OTP`.',
  },
  second_factor_invalid: {
    status: 401,
    title: 'The code of the second factor is not valid',
    meaning:
      'The email and the password are correct, but the code in X-Keyreeve-OTP is wrong, expired or already used. Repeat the request with the next code.',
    cause: 'The code is wrong, expired or already used.',
    fix: 'Repeat the request with the next code, or with a recovery code. If codes keep failing, check the clock of the device.',
  },
  second_factor_wrong: {
    status: 403,
    title: 'The code is wrong',
    meaning: 'The code is wrong, expired or already used, and is not an unused recovery code of the account.',
    cause: 'The code in the body is wrong, expired or already used.',
    fix: 'Send the code that the authenticator shows now, or an unused recovery code.',
  },
  second_factor_required_by_policy: {
    status: 403,
    title: 'The account must have a second factor',
    meaning: 'An administrator or an operator requires it for this account, so it cannot be removed.',
    cause: 'An administrator or an operator requires a second factor for this account.',
    fix: 'Keep the second factor, or ask an administrator to remove the requirement.',
  },
  second_factor_enrolment_required: {
    status: 403,
    title: 'A second factor must be enrolled first',
    meaning:
      'An administrator or an operator requires one for this account, which has none. Until one is confirmed, its access tokens only allow enrolment (POST /auth/account/second-factor), reading the account, signing out, and listing and ending its API keys and sessions.',
    cause: 'An administrator or an operator requires a second factor for this account, which has none.',
    fix: 'Enrol one with `POST /auth/account/second-factor` and confirm it.',
  },
  second_factor_exists: {
    status: 409,
    title: 'The account has a second factor',
    meaning: 'Remove it before enrolling another.',
    cause: 'The account already has a second factor.',
    fix: 'Remove it before enrolling another one.',
  },
  second_factor_not_enrolled: {
    status: 409,
    title: 'The account has no second factor',
    meaning: `Enrol one with POST /auth/account/second-factor, and confirm it within ${limits.secondFactorEnrolmentSeconds / 60} minutes.`,
    cause: 'The account has no second factor, or its enrolment was not confirmed in time.',
    fix: 'Enrol one with `POST /auth/account/second-factor`.',
  },
  password_wrong: {
    status: 403,
    title: 'The current password is wrong',
    meaning:
      'The access token is valid, but this operation also needs the account’s current password. Refreshing the token does not help.',
    cause: 'This operation needs the current password, and the one in the body is wrong.',
    fix: 'Send the current password of the account. Refreshing the token does not help.',
  },
  email_unverified: {
    status: 403,
    title: 'The email is not verified yet',
    meaning: 'An account cannot create keys until its email is verified. The mail of the sign-up has the link.',
    cause: 'The email of the account has not been verified yet.',
    fix: 'Open the link in the mail of the sign-up, or request another one with `POST /auth/accounts/verify/resend`.',
  },
  reauth_required: {
    status: 403,
    title: 'A recent sign-in is required',
    meaning: `This operation requires a sign-in within the last ${limits.recentSignInSeconds / 60} minutes. Sign in again with POST /auth/token and repeat the request with the new access token.`,
    cause: 'This operation requires a recent sign-in, and the session is older.',
    fix: 'Sign in again with `POST /auth/token` and repeat the request with the new access token. A refresh does not count.',
  },
  administrator_required: {
    status: 403,
    title: 'The administrator role is required',
    meaning: 'The access token is valid, but its account is not an administrator.',
    cause:
      'The account of the access token is not an administrator. Only an administrator or an operator can enable a key that an administrator has disabled.',
    fix: 'Use the access token of an administrator.',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    meaning: 'The account has no active session with this id.',
    cause: 'The account has no active session with this id; it may have ended.',
    fix: checkId,
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many sign-in attempts',
    meaning: 'Wait for the seconds in Retry-After. Until then even the correct password is rejected.',
    cause: `Too many attempts for this email or from this client IP range have failed, or the email signed in more than ${limits.signInsPerMinuteMax} times in a minute, or more than ${limits.passwordChecksPerEmailMax} of its attempts are in progress.`,
    fix: `${waitAndRetry} Until then even the correct password is rejected.`,
  },
  overloaded: {
    status: 503,
    title: 'Too many sign-ins in progress',
    meaning: 'The queue of password checks is full. Wait for the seconds in Retry-After.',
    cause: 'Too many password checks are in progress.',
    fix: waitAndRetry,
  },
} as const satisfies Record<string, ErrorDefinition>;
