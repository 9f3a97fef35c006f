/** The reasons why verification rejects a credential: the `code` of `POST /auth/verify`. */

export const refusals = {
  malformed: 'It is not a credential of this installation: its form, its checksum or a claim is wrong.',
  wrong_kind: 'It is a refresh token or a one-time code, which is not accepted here.',
  not_found: 'The key does not exist, the session of the access token has ended, or its signature is wrong.',
  expired: 'It has expired.',
  disabled: 'The key or the account of the credential is disabled.',
  wrong_environment: 'It belongs to an environment that the request does not accept.',
  address_required: 'The key is limited to IP ranges, and the request does not contain the client IP.',
  address_not_allowed: 'The key is not valid from this client IP.',
  insufficient_scope: 'It lacks a scope that the request requires. An access token has no scopes.',
  rate_limited: 'A rate limit of the key or its account has too few tokens left.',
  quota_exceeded: 'A quota of the key or its account has too few tokens left.',
  enrolment_required: 'The account of the access token must enrol a second factor first.',
} as const;

export type Refusal = keyof typeof refusals;
