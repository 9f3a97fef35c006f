/** Cause and fix of each error, in plain English, for its page at `/problems/<code>`. */
import type { ErrorHelp } from './error-definition.ts';
import type { ErrorCode } from './errors.ts';
import { keyErrorHelp } from './key-error-help.ts';
import { passkeyErrorHelp } from './passkey-error-help.ts';
import { webhookErrorHelp } from './webhook-error-help.ts';
import { singleSignOnErrorHelp } from './single-sign-on-error-help.ts';
import { limits } from './limits.ts';

const signInAgain = 'Refresh the token with `POST /auth/token/refresh`, or sign in again with `POST /auth/token`.';
const waitAndRetry = 'Wait for the seconds in the `Retry-After` header, then send the request again.';
const checkId = 'Copy the complete id from the list.';

export const errorHelp: Readonly<Record<ErrorCode, ErrorHelp>> = {
  invalid_request: {
    cause: 'A field of the body or a query parameter is missing, unknown, of the wrong type or out of its bounds.',
    fix: 'Correct each place that `errors` names by a JSON pointer. The bounds of each field are on the page /docs.',
  },
  malformed_json: {
    cause: 'The body is not JSON in UTF-8, repeats a member name, is nested too deeply or has a forbidden member name.',
    fix: 'Create the body with a JSON library instead of concatenating strings, and send it in UTF-8.',
  },
  malformed_request: {
    cause: 'The request line, a header or the framing of the body violates RFC 9110 or RFC 9112.',
    fix: 'Use an HTTP library. If you already do, check whether a proxy changes the request.',
  },
  invalid_signature: {
    cause: 'The body was changed after it was signed, or GitHub has no public key with this identifier.',
    fix: 'Only GitHub can sign. Check whether a proxy changes the body; with KEYREEVE_GITHUB_SCANNING_KEYS, update that file.',
  },
  password_too_short: {
    cause: 'The new password has fewer characters than the operator requires.',
    fix: 'Choose a longer password, for example a phrase of several unrelated words.',
  },
  password_too_long: {
    cause: 'The new password has more bytes in UTF-8 than allowed.',
    fix: 'Choose a shorter password.',
  },
  password_invalid: {
    cause: 'The new password contains a control character, such as a line break or a tab.',
    fix: 'Remove it. A copied password often includes the end of its line.',
  },
  password_context: {
    cause: 'The new password consists mostly of the email, the product’s name or repeated characters.',
    fix: 'Choose a password that is unrelated to the account, for example several unrelated words.',
  },
  password_common: {
    cause: 'The new password is on a list of breached or frequent passwords, or repeats one of them.',
    fix: 'Choose another password. If you use the rejected one elsewhere, replace it there too.',
  },
  email_invalid: {
    cause: 'The text is not an email address of the form that Keyreeve accepts.',
    fix: 'Send an email address such as `ada@example.com`: an ASCII local part, one @ and a domain name.',
  },
  code_invalid: {
    cause: 'The one-time code is malformed, expired, already used, replaced by a newer one or for another purpose.',
    fix: 'Open the link in the newest mail, or request another mail.',
  },
  webhook_url_refused: {
    cause: 'The URL does not use https on port 443, or its host has an internal IP address.',
    fix: 'Use a public https URL. For an internal receiver the operator sets `KEYREEVE_WEBHOOK_TARGETS`.',
  },
  console_session_required: {
    cause:
      'The browser has no session of the console, the session was idle for too long, or it was ended: by a sign-out, a new password, an administrator, or a confirmation that replaced the cookie.',
    fix: 'Sign in at `/console`. In a script, use the path without `/console/api` and send an access token from `POST /auth/token`.',
  },
  cross_origin_request: {
    cause:
      'A page of another origin, a form or a script outside of the console sent the request, or a proxy changed the headers `Origin` or `Sec-Fetch-Site`.',
    fix: 'Open the console at its own origin (`KEYREEVE_CONSOLE_URL`, by default the public URL). In a script, use the path without `/console/api` and send an access token.',
  },
  invalid_credentials: {
    cause: 'No enabled account has this email and this password.',
    fix: 'Check both, and that the Authorization header is the base64 of `email:password` in UTF-8. The owner can reset the password.',
  },
  missing_access_token: {
    cause: 'The request has no access token.',
    fix: 'Sign in with `POST /auth/token` and send its `accessToken` as `Authorization: Bearer <accessToken>`.',
  },
  invalid_access_token: {
    cause:
      'The access token is malformed or expired, or its session or account has ended. An API key is not accepted here.',
    fix: signInAgain,
  },
  invalid_refresh_token: {
    cause: 'The refresh token is malformed, unknown or expired, or its session has ended.',
    fix: 'Sign in again with `POST /auth/token`.',
  },
  refresh_token_reused: {
    cause: 'A replaced refresh token was used again, possibly by someone who copied it.',
    fix: 'Sign in again. Store the new refresh token of each response before using it, in one place only.',
  },
  missing_credential: {
    cause: 'The request, or the request that the proxy forwarded, has no credential.',
    fix: 'Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.',
  },
  invalid_credential: {
    cause:
      'The API key or access token is malformed, unknown, deleted, disabled or expired, or its account is disabled. A previous secret of a rotated key is invalid from the end of the overlap.',
    fix: 'Check that the credential is complete and, after a rotation, that it is the newest secret. The owner reads the state of a key with `GET /auth/api-keys/{id}`. If the key was deleted, create another one.',
  },
  ambiguous_credentials: {
    cause: 'The request has two credentials, for example Authorization and X-API-Key, or one header with two values.',
    fix: 'Send one header with one credential. Check whether a proxy or a client library adds a second one.',
  },
  invalid_service_key: {
    cause:
      'The caller of a verification endpoint presented no API key of its own, or one that is not valid: it is unknown, deleted, disabled or expired, or the caller is outside its IP ranges. The routes of canary keys accept only a credential of `keyreeve prove-revocation credential`.',
    fix: 'Send an API key that is valid and has the scope `keyreeve:verify` in the Authorization header (for introspection with Basic, with the id of the key as user); send the credential to verify in the body. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
  },
  second_factor_required: {
    cause: 'The email and the password are correct, and the account has a second factor.',
    fix: 'Ask the user for the code and repeat the request with the header `X-Keyreeve-OTP`.',
  },
  second_factor_invalid: {
    cause: 'The code is wrong, expired or already used.',
    fix: 'Repeat the request with the next code, or with a recovery code. If codes keep failing, check the clock of the device.',
  },
  password_wrong: {
    cause: 'This operation needs the current password, and the one in the body is wrong.',
    fix: 'Send the current password of the account. Refreshing the token does not help.',
  },
  email_wrong: {
    cause: 'Your page sends no email address that the user has typed, or the user mistyped it.',
    fix: 'Ask the user for the email address at which the mail arrived, and send it. Do not fill it in from the mail or the account.',
  },
  second_factor_wrong: {
    cause: 'The code in the body is wrong, expired or already used.',
    fix: 'Send the code that the authenticator shows now, or an unused recovery code.',
  },
  second_factor_required_by_policy: {
    cause: 'An administrator or an operator requires a second factor for this account.',
    fix: 'Keep the second factor, or ask an administrator to remove the requirement.',
  },
  second_factor_enrolment_required: {
    cause: 'An administrator or an operator requires a second factor for this account, which has none.',
    fix: 'Enrol one with `POST /auth/account/second-factor` and confirm it.',
  },
  signup_closed: {
    cause: 'This installation does not accept sign-ups.',
    fix: 'Ask the operator for an account. The operator opens sign-up with `KEYREEVE_SIGNUP=open`.',
  },
  email_unverified: {
    cause: 'The email of the account has not been verified yet.',
    fix: 'Open the link in the mail of the sign-up, or request another one with `POST /auth/accounts/verify/resend`.',
  },
  administrator_required: {
    cause:
      'The account of the access token is not an administrator. Only an administrator or an operator can enable a key that an administrator has disabled.',
    fix: 'Use the access token of an administrator.',
  },
  reauth_required: {
    cause: 'This operation requires a recent sign-in, and the session is older.',
    fix: 'Sign in again with `POST /auth/token` and repeat the request with the new access token. A refresh does not count.',
  },
  insufficient_scope: {
    cause: 'The credential is valid but lacks a scope that this request needs.',
    fix: 'Use a key that has the scope named in the `WWW-Authenticate` header, or add the scope to the key with `PATCH /auth/api-keys/{id}`. An administrator or an operator grants `keyreeve:verify`.',
  },
  https_required: {
    cause: 'A trusted proxy reports that the client used plain HTTP.',
    fix: 'Use https, and replace the credentials that were sent unencrypted.',
  },
  not_found: {
    cause: 'No resource has this path.',
    fix: 'Compare the path with the page /docs. A slash at the end makes a different path.',
  },
  account_not_found: { cause: 'No account has this id or email.', fix: checkId },
  session_not_found: { cause: 'The account has no active session with this id; it may have ended.', fix: checkId },
  webhook_not_found: { cause: 'No webhook endpoint has this id; it may have been deleted.', fix: checkId },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    fix: 'Use one of the methods that `detail` and the `Allow` header name.',
  },
  request_timeout: {
    cause: 'The headers or the body did not arrive in time.',
    fix: 'Send the request without pauses. If the network is slow, send it again.',
  },
  manager_not_found: {
    cause: 'The account of the path is not, or no longer, a manager of the service account.',
    fix: 'List the managers with `GET /auth/service-accounts/{id}/managers`.',
  },
  service_account: {
    cause:
      'The operation concerns a password, an email address, a second factor, sessions or the role, and the account is a service account.',
    fix: 'Change its name, keys and managers with the routes of service accounts, or with `keyreeve service-account`. To stop all its keys, disable or delete the account.',
  },
  account_limited: {
    cause: 'An administrator or an operator has set limits of the account.',
    fix: 'Ask an operator or an administrator to create the service account, or to remove the limits of the account.',
  },
  creator_required: {
    cause:
      'The caller manages the service account, but another account has created it: `creatorId` in the response of `GET`.',
    fix: 'Ask the creator or an operator to change the name or the external id. Every manager can change the keys.',
  },
  name_taken: {
    cause: 'Another service account of the same creator has the name.',
    fix: 'Choose another name, or use the existing service account: `GET /auth/service-accounts`.',
  },
  external_id_taken: {
    cause: 'Another service account of the same creator has the external id, perhaps from an earlier attempt.',
    fix: 'Find it with `GET /auth/service-accounts?externalId=…` and use it.',
  },
  service_account_limit_reached: {
    cause: 'The account has created as many service accounts as one account can have.',
    fix: 'Delete service accounts that are not used any more. For one service account for each tenant, create them with a management key.',
  },
  manager_limit_reached: {
    cause: 'The service account has as many managers as it can have.',
    fix: 'Remove a manager first.',
  },
  manager_not_eligible: {
    cause:
      'The account of the path does not exist, is disabled, has not verified its email address, or is the service account itself.',
    fix: 'Check the id. Ask the person to verify the email address, or an administrator to enable the account.',
  },
  last_manager: {
    cause: 'The account is the only manager that is left.',
    fix: 'Add another manager first, or delete the service account. An administrator can remove the last manager.',
  },
  account_exists: {
    cause: 'Another account has this email; case does not matter.',
    fix: 'Use the existing account, or another email.',
  },
  last_administrator: {
    cause: 'The change would leave the installation without an administrator.',
    fix: 'Give another account the role first. It counts once it has a password and is enabled.',
  },
  administrator_exists: {
    cause: 'The code of the first administrator is void, because there is an administrator.',
    fix: 'Ask an administrator for an invitation or for the role.',
  },
  mail_not_configured: {
    cause: 'This operation sends mail, and this installation has no mail server.',
    fix: 'The operator sets `KEYREEVE_SMTP_URL` and `KEYREEVE_MAIL_FROM`.',
  },
  email_changed_recently: {
    cause: 'The email of the account was changed in the last 30 days, possibly by an attacker.',
    fix: 'Select the recipient of the reset link in the body: `{"resetTo": "previous"}` or `{"resetTo": "current"}`.',
  },
  email_unconfirmed: {
    cause: 'A restore brought back an email address that the account had changed, and it has not been confirmed since.',
    fix: 'Ask the owner, then have an operator run `keyreeve account confirm-email <account>`, or set another email with PUT /admin/accounts/{id}/email. For `compromised`, `{"resetTo": "previous"}` also works while an earlier email of the account is listed.',
  },
  administrator_protected: {
    cause: 'The account is an administrator, and administrators cannot set the email of another administrator.',
    fix: 'Have the administrator change it with PUT /auth/account/email, or use `keyreeve account set-email`.',
  },
  own_account: {
    cause: 'An administrator cannot do this to the administrator’s own account.',
    fix: 'Use the operation under /auth/account, or ask another administrator.',
  },
  account_unverified: {
    cause: 'The email of the account has not been verified, so another person may have signed up with it.',
    fix: 'Have the owner verify the email first, or send an invitation.',
  },
  account_has_password: {
    cause: 'An invitation was requested for an account that has a password.',
    fix: 'Send a password reset instead.',
  },
  second_factor_exists: {
    cause: 'The account already has a second factor.',
    fix: 'Remove it before enrolling another one.',
  },
  second_factor_not_enrolled: {
    cause: 'The account has no second factor, or its enrolment was not confirmed in time.',
    fix: 'Enrol one with `POST /auth/account/second-factor`.',
  },
  webhook_limit_reached: {
    cause: 'The installation has the maximum number of webhook endpoints.',
    fix: 'Delete one that is no longer used.',
  },
  signing_key_waiting: {
    cause: 'The signing keys were rotated shortly before, and the new key does not sign yet.',
    fix: 'Wait until it is active: see `activatesAt` in `GET /admin/signing-keys`.',
  },
  body_too_large: { cause: 'The body has more bytes than this path accepts.', fix: 'Send less, or split a batch.' },
  url_too_long: {
    cause: 'The request target is too long.',
    fix: 'Send data in the body instead of the query.',
  },
  unsupported_media_type: {
    cause: 'The Content-Type is not the one that this path accepts, or the body has a content encoding.',
    fix: 'Send `Content-Type: application/json` (introspection: `application/x-www-form-urlencoded`), uncompressed.',
  },
  too_many_attempts: {
    cause: `Too many attempts for this email or from this client IP range have failed, or the email signed in more than ${limits.signInsPerMinuteMax} times in a minute, or more than ${limits.passwordChecksPerEmailMax} of its attempts are in progress.`,
    fix: `${waitAndRetry} Until then even the correct password is rejected.`,
  },
  too_many_requests: {
    cause:
      'Too many requests that send mail were made for this email address or from this client IP range, the client IP range reported leaked secrets too often, or the account changed its language too often.',
    fix: waitAndRetry,
  },
  invalid_grant: {
    cause:
      'The assertion was rejected, for example because of a wrong clock, `aud` or `kid`, or because it was used before. Or the API key is unknown, disabled, expired or limited to other IP ranges. The log of the server contains the cause.',
    fix: 'Make a new assertion for each request, with the time and a random `jti`. Compare `aud` with the `issuer` of /.well-known/oauth-authorization-server, and `kid`, `iss` and `sub` with the id of the key.',
  },
  unsupported_grant_type: {
    cause: 'The value of `grant_type` is not `urn:ietf:params:oauth:grant-type:jwt-bearer`.',
    fix: 'Send this value. For tokens of an account, call `POST /auth/token`.',
  },
  invalid_scope: {
    cause: 'The form has a parameter `scope`.',
    fix: 'Remove it. The short-lived secret has the scopes of its API key.',
  },
  too_many_exchanges: {
    cause: `The key exchanged more than ${limits.exchangesPerMinuteMax} assertions in a minute, for example because a client exchanges one for each request.`,
    fix: `${waitAndRetry} Use each short-lived secret until shortly before it expires.`,
  },
  too_many_in_progress: {
    cause: 'Too many requests of this token, account or client IP range are in progress. Nothing was changed.',
    fix: `${waitAndRetry} Send fewer concurrent requests.`,
  },
  headers_too_large: {
    cause: 'The header fields have too many bytes, or there are too many of them.',
    fix: 'Remove header fields that the request does not need, often cookies.',
  },
  internal_error: {
    cause: 'An unexpected error occurred in the server.',
    fix: 'Give the operator the `requestId`: the log has the cause under it.',
  },
  overloaded: {
    cause: 'Too many password checks are in progress.',
    fix: waitAndRetry,
  },
  unavailable: {
    cause: 'The database cannot be reached, or the instance is stopping.',
    fix: `${waitAndRetry} A change may have been made: check before you repeat it.`,
  },
  ...keyErrorHelp,
  ...passkeyErrorHelp,
  ...webhookErrorHelp,
  ...singleSignOnErrorHelp,
};
