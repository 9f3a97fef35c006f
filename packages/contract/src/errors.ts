/**
 * The registry of errors: every code that any answer can carry, with its HTTP status and its public text.
 * Each code has a page at `/problems/<code>` (RFC 9457 section 3.1.1); `meaning` is what that page says.
 */
import { limits } from './limits.ts';

interface ErrorDefinition {
  readonly status: number;
  /** Short, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** What happened and what to do about it. */
  readonly meaning: string;
}

const grouped = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
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
      'The body is not UTF-8 JSON, names a member twice, nests too deep, or uses a member name that is never allowed (`__proto__`).',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    meaning:
      'The request line, a header line or the framing of the body breaks the rules of HTTP. The connection is closed.',
  },
  password_too_short: {
    status: 400,
    title: 'The password is too short',
    meaning: 'A new password must have at least the configured number of characters. Long phrases are good passwords.',
  },
  password_too_long: {
    status: 400,
    title: 'The password is too long',
    meaning: `A password has at most ${grouped(limits.passwordBytesMax)} bytes in UTF-8. Nothing is ever cut off, so a longer one is refused.`,
  },
  password_invalid: {
    status: 400,
    title: 'The password has characters that can’t be sent',
    meaning: 'Control characters are not allowed in a password, because HTTP Basic can’t carry them (RFC 7617).',
  },
  password_context: {
    status: 400,
    title: 'The password is made of words that anyone would try',
    meaning: 'Without the product’s name, the email and repetitions, fewer than eight characters are left of it.',
  },
  password_common: {
    status: 400,
    title: 'The password is one of those that attackers try first',
    meaning:
      'It is on a list of passwords that were breached or that many people use, in any case of its letters, or it repeats one of them. A phrase of several unrelated words is on no list.',
  },
  email_invalid: {
    status: 400,
    title: 'The email address is not one Keyreeve accepts',
    meaning:
      'An address has one @, a plain local part in ASCII, and a domain name. Quoted local parts, comments and IP literals are refused.',
  },
  nickname_invalid: {
    status: 400,
    title: 'The nickname is not valid',
    meaning: `A nickname has 1 to ${limits.nicknameCodePointsMax} visible characters in Unicode NFC, at most ${limits.nicknameBytesMax} bytes, without white space at its ends and without control, invisible or direction characters.`,
  },
  scope_invalid: {
    status: 400,
    title: 'A scope is not valid',
    meaning: `A scope has 1 to ${limits.scopeCharsMax} visible ASCII characters without space, " and \\ (RFC 6749 section 3.3); a key has at most ${limits.scopesPerKeyMax}, each once.`,
  },

  code_invalid: {
    status: 400,
    title: 'The code is not good',
    meaning:
      'It is malformed, unknown, expired, used already, was replaced by something newer, or is for another purpose. Ask for another mail.',
  },
  webhook_url_refused: {
    status: 400,
    title: 'The address of the endpoint is refused',
    meaning:
      'Webhooks go to public addresses by https on port 443, without a user, a password or a fragment in the address. What is internal only an operator can allow, with KEYREEVE_WEBHOOK_TARGETS.',
  },

  // 401
  invalid_credentials: {
    status: 401,
    title: 'Email or password is wrong',
    meaning:
      'They are not those of a live account. A sign-in sends them as `Authorization: Basic base64("<email>:<password>")` in UTF-8; who has a code sends the password that goes with it in the body.',
  },
  missing_access_token: {
    status: 401,
    title: 'An access token is needed',
    meaning:
      'Send `Authorization: Bearer <accessToken>` with a token from POST /auth/token. API keys can’t manage keys.',
  },
  invalid_access_token: {
    status: 401,
    title: 'The access token is not valid',
    meaning: 'It is malformed, forged, expired, or its session or account has ended. Refresh it or sign in again.',
  },
  not_key_owner: {
    status: 401,
    title: 'The key belongs to a different account',
    meaning: 'The access token is good, but this key is not the account’s own. Refreshing the token doesn’t help.',
  },
  invalid_refresh_token: {
    status: 401,
    title: 'The refresh token is not valid',
    meaning: 'It is malformed, unknown or expired, or its session has ended. Sign in again.',
  },
  refresh_token_reused: {
    status: 401,
    title: 'The refresh token was used before',
    meaning:
      'A token that had been replaced was presented again, so somebody may hold a copy. The whole session has been ended. Sign in again.',
  },
  missing_credential: {
    status: 401,
    title: 'A credential is needed',
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
    meaning: 'The caller presents an API key of its own with the scope `keyreeve:verify`, as Bearer or X-API-Key.',
  },
  second_factor_required: {
    status: 401,
    title: 'A code of the second factor is needed',
    meaning:
      'Email and password are right. Repeat the request with the header X-Keyreeve-OTP: the six digits that the user’s program shows, or a recovery code.',
  },
  second_factor_invalid: {
    status: 401,
    title: 'The code of the second factor is not valid',
    meaning:
      'Email and password are right, but the code in X-Keyreeve-OTP is wrong, too old or used before. Repeat the request with the next one.',
  },

  // 403
  password_wrong: {
    status: 403,
    title: 'The current password is wrong',
    meaning:
      'The access token is good, but what is asked for needs the account’s password as well. Refreshing the token doesn’t help.',
  },
  second_factor_wrong: {
    status: 403,
    title: 'The code is wrong',
    meaning: 'It is not what the user’s program shows now, was used before, or is no recovery code of the account.',
  },
  second_factor_required_by_policy: {
    status: 403,
    title: 'The account must have a second factor',
    meaning: 'An operator requires it of this account, so it can’t be removed.',
  },
  second_factor_enrolment_required: {
    status: 403,
    title: 'A second factor must be enrolled first',
    meaning:
      'An operator requires one of this account and it has none yet. Until POST /auth/account/second-factor and its confirmation, its access tokens are good for that, for reading the account and for signing out.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is closed',
    meaning:
      'Accounts of this installation are made by its operator. An operator opens sign-up with `KEYREEVE_SIGNUP=open`.',
  },
  email_unverified: {
    status: 403,
    title: 'The email is not verified yet',
    meaning: 'An account makes no keys before its email is verified. The mail of the sign-up has the link.',
  },
  administrator_required: {
    status: 403,
    title: 'This is for administrators',
    meaning: 'The access token is good, but its account doesn’t have the role of an administrator.',
  },
  reauth_required: {
    status: 403,
    title: 'A recent sign-in is needed',
    meaning: `What is dangerous needs a session that began within the last ${limits.recentSignInSeconds / 60} minutes. Sign in again with POST /auth/token and repeat the request with the new access token.`,
  },
  insufficient_scope: {
    status: 403,
    title: 'The credential lacks a scope',
    meaning:
      'The credential is valid, but it lacks a scope that this request needs. The detail names it. Create a key that has it: scopes of an existing key do not change.',
  },
  reserved_scope: {
    status: 403,
    title: 'Only an administrator or an operator grants this scope',
    meaning: `An administrator grants scopes that begin with \`keyreeve:\` to keys of the administrator’s own account, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. An operator grants them on the command line.`,
  },
  https_required: {
    status: 403,
    title: 'HTTPS is needed',
    meaning:
      'The proxy in front says that the client came over plain HTTP. Credentials sent that way must be considered lost.',
  },

  // 404, 405
  not_found: {
    status: 404,
    title: 'Nothing is here',
    meaning: 'No resource has this address.',
  },
  key_not_found: {
    status: 404,
    title: 'No such API key',
    meaning: 'No API key has this id. A deleted key’s id is never used again.',
  },
  account_not_found: {
    status: 404,
    title: 'No such account',
    meaning: 'No account has this email or id.',
  },
  session_not_found: {
    status: 404,
    title: 'No such session',
    meaning: 'The account has no live session of this id.',
  },
  webhook_not_found: {
    status: 404,
    title: 'No such webhook endpoint',
    meaning: 'No webhook endpoint has this id.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    meaning: 'The Allow header of the answer lists the methods of this address.',
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
    title: 'It is the last administrator',
    meaning:
      'Somebody must be left who can administer. Give another account the role first; it counts once it has a password and is enabled.',
  },
  administrator_exists: {
    status: 409,
    title: 'There is an administrator already',
    meaning: 'The first administrator is made once. Further ones are invited, or given the role.',
  },
  mail_not_configured: {
    status: 409,
    title: 'This installation sends no mail',
    meaning: 'What was asked for is sent by mail only. An operator sets KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM.',
  },
  email_changed_recently: {
    status: 409,
    title: 'The email address was changed lately',
    meaning: `It was changed within the last ${limits.emailChangeKeptDays} days, perhaps by the person who got into the account. Name in the body where the reset link goes: {"resetTo": "previous"} restores the address from before, {"resetTo": "current"} keeps the present one. After several changes \`previous\` also needs \`previousEmail\`: GET /admin/accounts/{id} lists the addresses.`,
  },
  administrator_protected: {
    status: 409,
    title: 'The account is an administrator’s',
    meaning:
      'Administrators don’t set the email address of an administrator. The administrator changes it with PUT /auth/account/email; an operator sets it with `keyreeve account set-email`.',
  },
  own_account: {
    status: 409,
    title: 'This can’t be done to the own account',
    meaning:
      'An administrator removes its own second factor with DELETE /auth/account/second-factor, which asks for the password and a code. When both the factor and the recovery codes are lost, another administrator or an operator removes it.',
  },
  account_unverified: {
    status: 409,
    title: 'Nobody has shown that the email is theirs',
    meaning:
      'Somebody else may have signed up with it and chosen its password. It can be made an administrator, or get another email, once its email is verified. Or invite the address: that replaces a sign-up.',
  },
  account_has_password: {
    status: 409,
    title: 'The account has a password already',
    meaning: 'An invitation is for an account that has none yet. Send a password reset instead.',
  },
  second_factor_exists: {
    status: 409,
    title: 'The account has a second factor',
    meaning: 'Remove it before enrolling another.',
  },
  second_factor_not_enrolled: {
    status: 409,
    title: 'There is no second factor',
    meaning: `Enrol one with POST /auth/account/second-factor; what is not confirmed within ${limits.secondFactorEnrolmentSeconds / 60} minutes is begun again.`,
  },
  nickname_taken: {
    status: 409,
    title: 'The account has a key with this nickname',
    meaning: 'Nicknames are unique among an account’s keys. Choose another, or delete the old key first.',
  },
  key_limit_reached: {
    status: 409,
    title: 'The account has as many keys as it may',
    meaning: 'Delete a key that is no longer used.',
  },
  webhook_limit_reached: {
    status: 409,
    title: 'There are as many webhook endpoints as there may be',
    meaning: `There are at most ${limits.webhookEndpointsMax}. Delete one that is no longer used.`,
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    meaning: `A body has at most ${size(limits.bodyBytesMax)}; a verification batch at most ${size(limits.batchBodyBytesMax)}.`,
  },
  url_too_long: {
    status: 414,
    title: 'The address is too long',
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
    title: 'Too many failed sign-ins',
    meaning: 'Wait for as long as Retry-After says. The password is not looked at until then, not even the right one.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests of this kind',
    meaning:
      'Sign-ups, resets and other requests that send mail are counted by email and by address range. Wait for as long as Retry-After says.',
  },
  too_many_creations: {
    status: 429,
    title: 'Too many keys created',
    meaning: 'Wait for as long as Retry-After says.',
  },
  too_many_in_progress: {
    status: 429,
    title: 'Too many requests in progress',
    meaning:
      'The server is still working on too many requests of this token, account or client IP range. Nothing was changed. Wait for as long as Retry-After says, and send fewer requests at once.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    meaning: `All header lines together have at most ${size(limits.headerBytesMax)}, in at most ${limits.headerFieldsMax} fields.`,
  },

  // 5xx
  internal_error: {
    status: 500,
    title: 'Something went wrong in Keyreeve',
    meaning: 'The log has the cause under this requestId. Nothing was half done.',
  },
  overloaded: {
    status: 503,
    title: 'Too many sign-ins at once',
    meaning: 'The queue of password checks is full. Try again after Retry-After.',
  },
  unavailable: {
    status: 503,
    title: 'Keyreeve can’t answer now',
    meaning:
      'The database can’t be reached or the instance is stopping. Nothing is ever answered from memory instead. Try again after Retry-After.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;
