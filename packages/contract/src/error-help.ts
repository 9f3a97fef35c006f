/** Cause and fix of each error, in plain English, for its page at `/problems/<code>`. */
import type { ErrorCode } from './errors.ts';
import { limits } from './limits.ts';

interface ErrorHelp {
  /** Why the server returns it. */
  readonly cause: string;
  /** What the caller or the operator does about it. */
  readonly fix: string;
}

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
  nickname_invalid: {
    cause:
      'The nickname of a key, or the name of a service account, is empty or too long, or contains white space at its ends or invisible characters.',
    fix: 'Choose a short visible name, for example `billing worker`.',
  },
  scope_invalid: {
    cause: 'A scope contains a space, a quote, a backslash or a character outside ASCII, or there are too many scopes.',
    fix: 'Use names such as `orders:read`, each once.',
  },
  code_invalid: {
    cause: 'The one-time code is malformed, expired, already used, replaced by a newer one or for another purpose.',
    fix: 'Open the link in the newest mail, or request another mail.',
  },
  webhook_url_refused: {
    cause: 'The URL does not use https on port 443, or its host has an internal IP address.',
    fix: 'Use a public https URL. For an internal receiver the operator sets `KEYREEVE_WEBHOOK_TARGETS`.',
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
  not_key_owner: {
    cause: 'The API key in the path belongs to a different account than the access token.',
    fix: 'Use the access token of the account that owns the key. Refreshing the token does not help.',
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
      'The caller of a verification endpoint presented no API key of its own, or one that is not valid: it is unknown, deleted, disabled or expired, or the caller is outside its IP ranges.',
    fix: 'Send an API key that is valid and has the scope `keyreeve:verify` in the Authorization header (for introspection with Basic, with the id of the key as user); send the credential to verify in the body. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
  },
  invalid_management_key: {
    cause:
      'The request has no valid management key: the text is no key of this installation, the key is deleted, disabled or expired, its account is disabled, or the caller is outside its IP ranges.',
    fix: 'Send a valid key that has the scope `keyreeve:keys`, as `Authorization: Bearer …` or `X-API-Key: …`. An operator creates one with `keyreeve key create --scope keyreeve:keys`. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
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
  address_unknown: {
    cause:
      'The key is limited to IP ranges, but the proxy is not trusted, or `X-Forwarded-For` is missing or has an entry that is not a bare IP address, for example with a port or brackets.',
    fix: 'Set `KEYREEVE_TRUSTED_PROXIES` to the IP address of the proxy, and use the proxy file of the documentation, which forwards the client IP.',
  },
  address_not_allowed: {
    cause: 'The key is limited to IP ranges, and the client IP is outside them.',
    fix: 'Send the request from an allowed IP address, or change `addresses` with `PATCH /auth/api-keys/{id}`.',
  },
  reserved_scope: {
    cause:
      'The request contains a scope that begins with `keyreeve:` and that the caller cannot grant, or a management key changes or rotates a key that has one.',
    fix: 'Omit the scope. Otherwise an administrator creates the key within 5 minutes of a sign-in, or an operator creates it with `keyreeve key create --scope keyreeve:verify`. A key with a reserved scope is changed and rotated by its owner or by an operator.',
  },
  management_key_required: {
    cause:
      'The request has an access token, and its body has `sha256`, or it sets the limits or entitlements of a service account.',
    fix: 'Send the request with a management key. Without one: omit `sha256` and use the secret of the response, or ask an operator to create the key with `keyreeve key create --sha256`. Administrators set limits with `PUT /admin/accounts/{id}/limits` and entitlements with `PUT /admin/accounts/{id}/entitlements`.',
  },
  secret_taken: {
    cause:
      'Another key has the secret of this hash now or had it before its last rotation, or a key that was created with this hash has been deleted.',
    fix: 'Check with the list of keys whether an earlier attempt created the key. Otherwise create a key without `sha256`.',
  },
  https_required: {
    cause: 'A trusted proxy reports that the client used plain HTTP.',
    fix: 'Use https, and replace the credentials that were sent unencrypted.',
  },
  not_found: {
    cause: 'No resource has this path.',
    fix: 'Compare the path with the page /docs. A slash at the end makes a different path.',
  },
  wrong_environment: {
    cause: 'The key belongs to an environment that this URL does not accept, such as `test`.',
    fix: 'Use a key of the right environment. Its prefix shows the environment.',
  },
  scope_not_entitled: {
    cause: 'The request gives a key a scope that is not declared, or that needs an entitlement that the account lacks.',
    fix: 'Choose scopes with `"mayGrant": true` from `GET /auth/scopes`, or ask an administrator for the entitlement. With a management key, set the entitlements of the service account first. An operator gives the account of the key those that it may pass on: `keyreeve account entitlements <account> --set …`.',
  },
  scope_not_found: {
    cause: 'The name is not in the scope catalogue, or the scope has been deleted.',
    fix: 'Copy the name from `GET /admin/scopes`. In the path, percent-encode it.',
  },
  catalogue_full: {
    cause: 'The catalogue has the maximum number of names. Names are never removed, because keys may still have them.',
    fix: 'Use a scope that is declared, or declare a deleted one again: keys that still have it get it back.',
  },
  key_not_found: { cause: 'No API key has this id. It may be mistyped, or the key has been deleted.', fix: checkId },
  no_previous_secret: {
    cause: 'The key has only one secret: it was not rotated, or the overlap has ended.',
    fix: 'No action is necessary. To replace the current secret, rotate the key.',
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
  usage_not_kept: {
    cause: 'The operator has set `KEYREEVE_USAGE_DAYS=0`, so verifications are not counted.',
    fix: 'The operator removes this setting. For the last use of a key, read `lastUsedAt`.',
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
  nickname_taken: {
    cause: 'Another API key of the account has this nickname.',
    fix: 'Choose another nickname. To replace the secret of the other key, rotate it; if it is not needed, delete it first.',
  },
  key_limit_reached: {
    cause: 'The account has the maximum number of API keys that the operator allows.',
    fix: 'Delete keys that are no longer used. The operator raises the limit with `KEYREEVE_KEYS_PER_ACCOUNT_MAX`.',
  },
  overlap_in_progress: {
    cause: 'The key was rotated before, and its previous secret is still valid.',
    fix: 'Configure the current secret in your clients, and read in `previous.lastUsedAt` of the key whether a client still uses the previous one. Then wait until `previous.expiresAt`, end the previous secret with `DELETE /auth/api-keys/{id}/previous`, or rotate with `{"endPrevious": true}`, which ends it immediately. If you did not receive the response to the last rotation, your clients still use the previous secret: rotate with `{"endCurrent": true}`, which replaces the secret that no client has.',
  },
  no_overlap_in_progress: {
    cause:
      'The request ends the current secret with `{"endCurrent": true}`, but the key has no previous secret that is valid: it was not rotated, or the overlap of its last rotation has ended.',
    fix: 'If your clients use the current secret, rotate without `endCurrent`, so that it stays valid for the overlap. If no client has it, rotate with `{"overlapSeconds": 0}`.',
  },
  webhook_limit_reached: {
    cause: 'The installation has the maximum number of webhook endpoints.',
    fix: 'Delete one that is no longer used.',
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
      'Too many requests that send mail were made for this email or from this client IP range, or the account changed its language too often.',
    fix: waitAndRetry,
  },
  too_many_creations: {
    cause: 'The account created or rotated too many API keys in a short time.',
    fix: `${waitAndRetry} Reuse keys instead of creating one for each task.`,
  },
  rate_limited: {
    cause: 'The verifications of the key, or of all keys of its account together, exceeded a rate limit.',
    fix: 'Wait for the seconds in `Retry-After`. The owner changes the rate limit of a key with `PATCH /auth/api-keys/{id}`; an administrator changes that of an account. Without `Retry-After`, the cost of the request exceeds the burst.',
  },
  quota_exceeded: {
    cause:
      'The verifications of the key, or of all keys of its account together, used up a quota per day, per month or in total.',
    fix: 'Wait for the seconds in `Retry-After`: then the next period starts. Without the header, waiting does not help. The owner changes the quota of a key with `PATCH /auth/api-keys/{id}`; an administrator changes that of an account.',
  },
  too_many_changes: {
    cause: `The account changed or rotated its API keys more than ${limits.keyChangesPerMinuteMax} times in a minute.`,
    fix: `${waitAndRetry} A request that only disables or deletes a key, or ends its previous secret, is not limited.`,
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
};
