/**
 * The registry of errors: all codes with their HTTP status and public text. Each code has a page at `/problems/<code>`
 * (RFC 9457 section 3.1.1), which shows `meaning` and the texts of `error-help.ts`.
 */
import type { ErrorDefinition } from './error-definition.ts';
import { keyErrors } from './key-errors.ts';
import { limits } from './limits.ts';
import { oauthErrors } from './oauth-errors.ts';
import { passkeyErrors } from './passkey-errors.ts';
import { webhookErrors } from './webhook-errors.ts';
import { singleSignOnErrors } from './single-sign-on-errors.ts';
import { serviceAccountErrors } from './service-account-errors.ts';

const grouped = (value: number): string => value.toLocaleString('en');
const size = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`);
const seconds = (ms: number): number => ms / 1_000;

export const errors = {
  // 400
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    meaning:
      'A field is missing, unknown, of the wrong type or out of its bounds. `errors` names each place by a JSON pointer.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not valid JSON',
    meaning:
      'The body is not UTF-8 JSON, repeats a member name, is nested too deeply, or has a forbidden member name (`__proto__`).',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    meaning: 'The request line, a header line or the framing of the body violates HTTP. The connection is closed.',
  },
  password_too_short: {
    status: 400,
    title: 'The password is too short',
    meaning: 'A new password must have at least the configured number of characters. Long phrases are good passwords.',
  },
  password_too_long: {
    status: 400,
    title: 'The password is too long',
    meaning: `A password has at most ${grouped(limits.passwordBytesMax)} bytes in UTF-8. A longer one is rejected, never truncated.`,
  },
  password_invalid: {
    status: 400,
    title: 'The password contains a control character',
    meaning: 'A password must not contain control characters, because HTTP Basic cannot transmit them (RFC 7617).',
  },
  password_context: {
    status: 400,
    title: 'The password is easy to guess',
    meaning: 'Without the product’s name, the email and repetitions, the password has fewer than eight characters.',
  },
  password_common: {
    status: 400,
    title: 'The password is too common',
    meaning:
      'The password is on a list of breached or frequent passwords, in any case, or repeats one of them. Choose a phrase of several unrelated words.',
  },
  email_invalid: {
    status: 400,
    title: 'The email address is not valid',
    meaning:
      'An email address has one @, an ASCII local part and a domain name. Quoted local parts, comments and IP literals are rejected.',
  },

  code_invalid: {
    status: 400,
    title: 'The code is not valid',
    meaning:
      'The code is malformed, unknown, expired, already used, replaced by a newer one, or for another purpose. Request another mail.',
  },
  webhook_url_refused: {
    status: 400,
    title: 'The URL of the endpoint is not allowed',
    meaning:
      'A webhook URL uses https on port 443 and a public host, without a user, a password or a fragment. An operator can allow internal hosts with KEYREEVE_WEBHOOK_TARGETS.',
  },
  // 401
  invalid_credentials: {
    status: 401,
    title: 'Email or password is wrong',
    meaning:
      'No enabled account has this email and this password. Send both as `Authorization: Basic base64("<email>:<password>")` in UTF-8; with a code from a mail, send the matching password in the body.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature is not valid',
    meaning:
      'The header `Github-Public-Key-Signature` does not have a signature of the body by the key that `Github-Public-Key-Identifier` names, or that key is not one of GitHub’s.',
  },
  missing_access_token: {
    status: 401,
    title: 'An access token is required',
    meaning:
      'Send `Authorization: Bearer <accessToken>` with a token from POST /auth/token. API keys cannot manage keys.',
  },
  invalid_access_token: {
    status: 401,
    title: 'The access token is not valid',
    meaning: 'It is malformed, forged, expired, or its session or account has ended. Refresh it or sign in again.',
  },
  invalid_refresh_token: {
    status: 401,
    title: 'The refresh token is not valid',
    meaning: 'It is malformed, unknown or expired, or its session has ended. Sign in again.',
  },
  refresh_token_reused: {
    status: 401,
    title: 'The refresh token was used before',
    meaning: 'A replaced token was used again, so it may have been copied. The session has ended. Sign in again.',
  },
  missing_credential: {
    status: 401,
    title: 'A credential is required',
    meaning: 'Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.',
  },
  invalid_credential: {
    status: 401,
    title: 'The credential is not valid',
    meaning: 'The API key or access token is malformed, unknown, deleted, expired or disabled.',
  },
  ambiguous_credentials: {
    status: 401,
    title: 'The request carries more than one credential',
    meaning: 'Send exactly one: one Authorization header or one X-API-Key header, with one value.',
  },
  invalid_service_key: {
    status: 401,
    title: 'The calling service is not authenticated',
    meaning:
      'Send an API key of the calling service that is valid (not disabled, expired or used from outside its IP ranges) and has the scope `keyreeve:verify`, as Bearer or X-API-Key; for introspection also as Basic, with the id of the key as user.',
  },
  second_factor_required: {
    status: 401,
    title: 'A second factor is required',
    meaning:
      'The email and the password are correct. Repeat the request with the header X-Keyreeve-OTP: the six digits that the authenticator shows, or a recovery code. If the response has `passkey`, a passkey is possible as well: POST /auth/token/passkey.',
  },
  second_factor_invalid: {
    status: 401,
    title: 'The code of the second factor is not valid',
    meaning:
      'The email and the password are correct, but the code in X-Keyreeve-OTP is wrong, expired or already used. Repeat the request with the next code.',
  },
  console_session_required: {
    status: 401,
    title: 'A session of the console is required',
    meaning:
      'The request has no session cookie, or its session has ended. Sign in to the console again. Scripts use the same paths without `/console/api`, with an access token.',
  },
  // 403
  cross_origin_request: {
    status: 403,
    title: 'The request does not come from the console',
    meaning:
      'Requests with the session cookie must have the header `X-Keyreeve-Console` (`user` or `background`) and come from a page of the console’s own origin.',
  },
  password_wrong: {
    status: 403,
    title: 'The current password is wrong',
    meaning:
      'The access token is valid, but this operation also needs the account’s current password. Refreshing the token does not help.',
  },
  email_wrong: {
    status: 403,
    title: 'The email address is not that of the link',
    meaning:
      'The code is valid, and the email address in the body is not the one that this link needs. A mail scanner that presses the button of the page does not know it. The code stays valid.',
  },
  second_factor_wrong: {
    status: 403,
    title: 'The code is wrong',
    meaning: 'The code is wrong, expired or already used, and is not an unused recovery code of the account.',
  },
  second_factor_required_by_policy: {
    status: 403,
    title: 'The account must have a second factor',
    meaning: 'An administrator or an operator requires it for this account, so it cannot be removed.',
  },
  second_factor_enrolment_required: {
    status: 403,
    title: 'A second factor must be enrolled first',
    meaning:
      'An administrator or an operator requires one for this account, which has none. Until one is confirmed, its access tokens only allow enrolment (POST /auth/account/second-factor), reading the account, signing out, and listing and ending its API keys and sessions.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is closed',
    meaning:
      'Operators and administrators create the accounts of this installation. An operator opens sign-up with `KEYREEVE_SIGNUP=open`.',
  },
  email_unverified: {
    status: 403,
    title: 'The email is not verified yet',
    meaning: 'An account cannot create keys until its email is verified. The mail of the sign-up has the link.',
  },
  administrator_required: {
    status: 403,
    title: 'The administrator role is required',
    meaning: 'The access token is valid, but its account is not an administrator.',
  },
  reauth_required: {
    status: 403,
    title: 'A recent sign-in is required',
    meaning: `This operation requires a sign-in within the last ${limits.recentSignInSeconds / 60} minutes. Sign in again with POST /auth/token and repeat the request with the new access token.`,
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    meaning:
      'The credential is valid, but it lacks a scope that this request needs. Add the scope to the key with PATCH /auth/api-keys/{id}, or use another key.',
  },
  https_required: {
    status: 403,
    title: 'HTTPS is required',
    meaning: 'The proxy reports that the client used plain HTTP. Replace credentials that were sent that way.',
  },
  // 404, 405
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'No resource has this path.',
  },
  account_not_found: {
    status: 404,
    title: 'No such account',
    meaning: 'No account has this email or id.',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    meaning: 'The account has no active session with this id.',
  },
  webhook_not_found: {
    status: 404,
    title: 'No such webhook endpoint',
    meaning: 'No webhook endpoint has this id.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    meaning: 'The Allow header of the response lists the methods of this path.',
  },
  // 408 … 431
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning: `Headers must arrive within ${seconds(limits.headersTimeoutMs)} seconds and the whole request within ${seconds(limits.requestTimeoutMs)}.`,
  },
  account_exists: {
    status: 409,
    title: 'An account with this email exists',
    meaning: 'Emails are compared without regard to case.',
  },
  last_administrator: {
    status: 409,
    title: 'The account is the last administrator',
    meaning:
      'One administrator must remain. Give another account the role first; it counts once it has a password and is enabled.',
  },
  administrator_exists: {
    status: 409,
    title: 'An administrator already exists',
    meaning: 'The first administrator is created once. Invite further ones, or give them the role.',
  },
  mail_not_configured: {
    status: 409,
    title: 'This installation sends no mail',
    meaning: 'This operation needs mail. An operator sets KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM.',
  },
  email_changed_recently: {
    status: 409,
    title: 'The email address was changed recently',
    meaning: `It was changed within the last ${limits.emailChangeKeptDays} days, possibly by an attacker. Select the recipient of the reset link in the body: {"resetTo": "previous"} restores the previous email address, {"resetTo": "current"} keeps the current one. After several changes \`previous\` also needs \`previousEmail\`: GET /admin/accounts/{id} lists the email addresses.`,
  },
  email_unconfirmed: {
    status: 409,
    title: 'The email address is not confirmed since a restore',
    meaning: `A restore brought back an email address that the account had changed. It may no longer belong to the owner, so no link is sent there. An operator asks the owner and runs \`keyreeve account confirm-email\`, or another email address is set with PUT /admin/accounts/{id}/email.`,
  },
  administrator_protected: {
    status: 409,
    title: 'The account is an administrator',
    meaning:
      'Administrators cannot set the email of another administrator, who changes it with PUT /auth/account/email. An operator sets it with `keyreeve account set-email`.',
  },
  own_account: {
    status: 409,
    title: 'Not possible for your own account',
    meaning:
      'Remove your own second factor with DELETE /auth/account/second-factor, which needs the password and a code. Without a code, another administrator or an operator removes it.',
  },
  account_unverified: {
    status: 409,
    title: 'The email of the account is not verified',
    meaning:
      'Another person may have signed up with it and chosen its password. The account cannot become an administrator or get another email until its email is verified. An invitation of the email address replaces a sign-up.',
  },
  account_has_password: {
    status: 409,
    title: 'The account already has a password',
    meaning: 'An invitation is for an account without a password. Send a password reset instead.',
  },
  second_factor_exists: {
    status: 409,
    title: 'The account has a second factor',
    meaning: 'Remove it before enrolling another.',
  },
  second_factor_not_enrolled: {
    status: 409,
    title: 'The account has no second factor',
    meaning: `Enrol one with POST /auth/account/second-factor, and confirm it within ${limits.secondFactorEnrolmentSeconds / 60} minutes.`,
  },
  webhook_limit_reached: {
    status: 409,
    title: 'The maximum number of webhook endpoints exists',
    meaning: `There are at most ${limits.webhookEndpointsMax}. Delete one that is no longer used.`,
  },
  signing_key_waiting: {
    status: 409,
    title: 'The next signing key has not been activated yet',
    meaning: `A new signing key is published ${limits.signingKeyLeadSeconds / 60} minutes before it signs. Wait until then, or rotate immediately if a key has leaked.`,
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    meaning: `A body has at most ${size(limits.bodyBytesMax)}; a verification batch at most ${size(limits.batchBodyBytesMax)}.`,
  },
  url_too_long: {
    status: 414,
    title: 'The URL is too long',
    meaning: `A request target has at most ${grouped(limits.urlCharsMax)} characters.`,
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body’s content type is not supported',
    meaning:
      'Send `Content-Type: application/json` (for introspection `application/x-www-form-urlencoded`), without content encoding.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many sign-in attempts',
    meaning: 'Wait for the seconds in Retry-After. Until then even the correct password is rejected.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests of this kind',
    meaning:
      'Requests of this kind are counted: sign-ups, resets and other requests that send mail per email address and client IP range, reports of leaked secrets per client IP range, changes of the language and exports per account. Wait for the seconds in Retry-After.',
  },
  too_many_in_progress: {
    status: 429,
    title: 'Too many requests in progress',
    meaning:
      'Too many requests of this token, account or client IP range are in progress. Nothing was changed. Wait for the seconds in Retry-After, and send fewer concurrent requests.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    meaning: `All header lines together have at most ${size(limits.headerBytesMax)}, in at most ${limits.headerFieldsMax} fields.`,
  },
  // 5xx
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'The log has the cause under this requestId. No change was made partially.',
  },
  overloaded: {
    status: 503,
    title: 'Too many sign-ins in progress',
    meaning: 'The queue of password checks is full. Wait for the seconds in Retry-After.',
  },
  unavailable: {
    status: 503,
    title: 'Keyreeve is unavailable',
    meaning:
      'The database cannot be reached, or the instance is stopping. Keyreeve has no cache to answer from. Wait for the seconds in Retry-After.',
  },
  ...keyErrors,
  ...oauthErrors,
  ...passkeyErrors,
  ...webhookErrors,
  ...singleSignOnErrors,
  ...serviceAccountErrors,
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;
