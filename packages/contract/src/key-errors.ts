/** Errors of creating, changing and using API keys. Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';
import { limits } from './limits.ts';

export const keyErrors = {
  nickname_invalid: {
    status: 400,
    title: 'The nickname or name is not valid',
    meaning: `A nickname, like the name of a service account, has 1 to ${limits.nicknameCodePointsMax} visible characters in Unicode NFC, at most ${limits.nicknameBytesMax} bytes, without white space at its ends and without control, invisible or direction characters. Joiners (U+200C, U+200D) are allowed where words need them, as in RFC 5892 appendix A.1 and A.2.`,
  },
  scope_invalid: {
    status: 400,
    title: 'A scope is not valid',
    meaning: `A scope has 1 to ${limits.scopeCharsMax} visible ASCII characters without space, " and \\ (RFC 6749 section 3.3); a key has at most ${limits.scopesPerKeyMax}, each once.`,
  },
  not_key_owner: {
    status: 401,
    title: 'The key belongs to a different account',
    meaning: 'The access token is valid, but the key belongs to another account. Refreshing the token does not help.',
  },
  invalid_management_key: {
    status: 401,
    title: 'The management key is not valid',
    meaning:
      'Send an API key that is valid (not deleted, disabled, expired or used from outside its IP ranges) and has the scope `keyreeve:keys`, as Bearer or X-API-Key.',
  },
  reserved_scope: {
    status: 403,
    title: 'The caller cannot grant this scope, or manage a key that has it',
    meaning: `An administrator grants \`keyreeve:verify\` to keys of the administrator’s own account, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. Other scopes that begin with \`keyreeve:\`, and those of service accounts, are granted by an operator on the command line. A management key can only disable or delete a key that has such a scope.`,
  },
  management_key_required: {
    status: 403,
    title: 'A management key is required',
    meaning:
      'Only a management key or an operator can send `sha256`. Without it, the server generates the secret. Only a management key, an administrator or an operator sets limits and entitlements.',
  },
  scope_not_entitled: {
    status: 403,
    title: 'The account cannot grant this scope',
    meaning:
      'The scope is not in the catalogue of this installation, or it needs an entitlement that the account lacks. A person lists the scopes that the account can grant with GET /auth/scopes.',
  },
  wrong_environment: {
    status: 403,
    title: 'The key belongs to another environment',
    meaning: 'The key is valid, but not in this environment: for example a test key in production.',
  },
  address_unknown: {
    status: 403,
    title: 'The client IP is not known',
    meaning:
      'The key is limited to IP ranges, and the request contains no client IP from a trusted proxy, or it is malformed. An operator sets KEYREEVE_TRUSTED_PROXIES.',
  },
  address_not_allowed: {
    status: 403,
    title: 'The key is not valid from this IP address',
    meaning: 'The key is limited to IP ranges, and the client IP is outside them.',
  },
  key_not_found: {
    status: 404,
    title: 'No such API key',
    meaning: 'No API key has this id. A deleted key’s id is never used again.',
  },
  scope_not_found: {
    status: 404,
    title: 'No such scope',
    meaning: 'The scope catalogue has no scope with this name, or it has been deleted.',
  },
  no_previous_secret: {
    status: 404,
    title: 'The key has no previous secret',
    meaning: 'The key was not rotated, or the overlap of its last rotation has ended.',
  },
  nickname_taken: {
    status: 409,
    title: 'The account has a key with this nickname',
    meaning: 'Nicknames are unique among an account’s keys. Choose another, or delete the old key first.',
  },
  secret_taken: {
    status: 409,
    title: 'A key with this hash exists or existed',
    meaning:
      'The hash is that of the current or previous secret of a key, of a leaked secret, or of a key with a given hash that was deleted. Each secret belongs to one key, and neither a deletion nor a leak can be undone.',
  },
  key_limit_reached: {
    status: 409,
    title: 'The account has the maximum number of keys',
    meaning: 'Delete a key that is no longer used.',
  },
  catalogue_full: {
    status: 409,
    title: 'The scope catalogue is full',
    meaning: `It has at most ${limits.catalogueScopesMax} scopes, deleted ones included.`,
  },
  usage_not_kept: {
    status: 409,
    title: 'This installation keeps no usage',
    meaning: 'Verifications are not counted. An operator sets KEYREEVE_USAGE_DAYS to the number of days to keep.',
  },
  key_leaked: {
    status: 409,
    title: 'The current secret of the key has leaked',
    meaning:
      'The current secret was reported as leaked and has ended. The owner replaces it with POST /auth/api-keys/{id}/rotate, which enables the key if the leak disabled it.',
  },
  overlap_in_progress: {
    status: 409,
    title: 'The previous secret is still valid',
    meaning:
      'The key was rotated before, and its previous secret is valid until the end of the overlap. Wait, end it with DELETE /auth/api-keys/{id}/previous, or rotate with {"endPrevious": true}, which ends it immediately.',
  },
  no_overlap_in_progress: {
    status: 409,
    title: 'The current secret is the only valid one',
    meaning:
      'A rotation with {"endCurrent": true} ends the current secret and keeps the previous one, but the key has no previous secret that is valid. To end the current secret, rotate with {"overlapSeconds": 0}.',
  },
  too_many_creations: {
    status: 429,
    title: 'Too many keys created',
    meaning:
      'The account created or rotated too many API keys, or created too many service accounts, in a short time. Wait for the seconds in Retry-After.',
  },
  too_many_changes: {
    status: 429,
    title: 'Too many changes of keys',
    meaning:
      'The account changed its API keys or service accounts too often in a short time. Wait for the seconds in Retry-After.',
  },
  rate_limited: {
    status: 429,
    title: 'The rate limit is exceeded',
    meaning:
      'A rate limit of the key or its account has too few tokens left. Wait for the seconds in Retry-After. Without Retry-After, the cost exceeds the burst.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota is used up',
    meaning:
      'A quota of the key or its account has too few tokens left. It starts again after the seconds in Retry-After. Without Retry-After, waiting does not help.',
  },
} as const satisfies Record<string, ErrorDefinition>;
