/** Errors of creating and changing API keys and scopes. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId, waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

export const keyErrors = {
  nickname_invalid: {
    status: 400,
    title: 'The nickname or name is not valid',
    meaning: `A nickname, like the name of a service account, has 1 to ${limits.nicknameCodePointsMax} visible characters in Unicode NFC, at most ${limits.nicknameBytesMax} bytes, without white space at its ends and without control, invisible or direction characters. Joiners (U+200C, U+200D) are allowed where words need them, as in RFC 5892 appendix A.1 and A.2.`,
    cause:
      'The nickname of a key, or the name of a service account, is empty or too long, or contains white space at its ends or invisible characters.',
    fix: 'Choose a short visible name, for example `billing worker`.',
  },
  scope_invalid: {
    status: 400,
    title: 'A scope is not valid',
    meaning: `A scope has 1 to ${limits.scopeCharsMax} visible ASCII characters without space, " and \\ (RFC 6749 section 3.3); a key has at most ${limits.scopesPerKeyMax}, each once.`,
    cause: 'A scope contains a space, a quote, a backslash or a character outside ASCII, or there are too many scopes.',
    fix: 'Use names such as `orders:read`, each once.',
  },
  not_key_owner: {
    status: 401,
    title: 'The key belongs to a different account',
    meaning: 'The access token is valid, but the key belongs to another account. Refreshing the token does not help.',
    cause: 'The API key in the path belongs to a different account than the access token.',
    fix: 'Use the access token of the account that owns the key. Refreshing the token does not help.',
  },
  invalid_management_key: {
    status: 401,
    title: 'The management key is not valid',
    meaning:
      'Send an API key that is valid (not deleted, disabled, expired or used from outside its IP ranges) and has the scope `keyreeve:keys`, as Bearer or X-API-Key.',
    cause:
      'The request has no valid management key: the text is no key of this installation, the key is deleted, disabled or expired, its account is disabled, or the caller is outside its IP ranges.',
    fix: 'Send a valid key that has the scope `keyreeve:keys`, as `Authorization: Bearer …` or `X-API-Key: …`. An operator creates one with `keyreeve key create --scope keyreeve:keys`. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
  },
  reserved_scope: {
    status: 403,
    title: 'The caller cannot grant this scope, or manage a key that has it',
    meaning: `An administrator grants \`keyreeve:verify\` to keys of the administrator’s own account, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. Other scopes that begin with \`keyreeve:\`, and those of service accounts, are granted by an operator on the command line. A management key can only disable or delete a key that has such a scope, and only an operator rotates a management key.`,
    cause:
      'The request contains a scope that begins with `keyreeve:` and that the caller cannot grant, or a management key changes or rotates a key that has one, or an account rotates a management key, or the key has a public key.',
    fix: 'Omit the scope. Otherwise an administrator creates the key within 5 minutes of a sign-in, or an operator creates it with `keyreeve key create --scope keyreeve:verify`. A key with `keyreeve:verify` is changed and rotated by its owner or by an operator, a management key is rotated by an operator. A key with a public key cannot have a reserved scope: create a key with a secret.',
  },
  management_key_required: {
    status: 403,
    title: 'A management key is required',
    meaning:
      'Only a management key or an operator can send `sha256`. Without it, the server generates the secret. Only a management key, an administrator or an operator sets limits and entitlements. Only a management key creates and ends portal sessions.',
    cause:
      'The request has an access token, and its body has `sha256`, or it sets the limits or entitlements of a service account, or creates or ends a portal session.',
    fix: 'Send the request with a management key. Without one: omit `sha256` and use the secret of the response, or ask an operator to create the key with `keyreeve key create --sha256`. Administrators set limits with `PUT /admin/accounts/{id}/limits` and entitlements with `PUT /admin/accounts/{id}/entitlements`.',
  },
  scope_not_entitled: {
    status: 403,
    title: 'The account cannot grant this scope',
    meaning:
      'The scope is not in the catalogue of this installation, or it needs an entitlement that the account lacks. A person lists the scopes that the account can grant with GET /auth/scopes.',
    cause: 'The request gives a key a scope that is not declared, or that needs an entitlement that the account lacks.',
    fix: 'Choose scopes with `"mayGrant": true` from `GET /auth/scopes`, or ask an administrator for the entitlement. With a management key, set the entitlements of the service account first. An operator gives the account of the key those that it may pass on: `keyreeve account entitlements <account> --set …`.',
  },
  key_not_found: {
    status: 404,
    title: 'No such API key',
    meaning: 'No API key has this id. A deleted key’s id is never used again.',
    cause: 'No API key has this id. It may be mistyped, or the key has been deleted.',
    fix: checkId,
  },
  scope_not_found: {
    status: 404,
    title: 'No such scope',
    meaning: 'The scope catalogue has no scope with this name, or it has been deleted.',
    cause: 'The name is not in the scope catalogue, or the scope has been deleted.',
    fix: 'Copy the name from `GET /admin/scopes`. In the path, percent-encode it.',
  },
  no_previous_secret: {
    status: 404,
    title: 'The key has no previous secret',
    meaning: 'The key was not rotated, or the overlap of its last rotation has ended.',
    cause: 'The key has only one secret: it was not rotated, or the overlap has ended.',
    fix: 'No action is necessary. To replace the current secret, rotate the key.',
  },
  nickname_taken: {
    status: 409,
    title: 'The account has a key with this nickname',
    meaning: 'Nicknames are unique among an account’s keys. Choose another, or delete the old key first.',
    cause: 'Another API key of the account has this nickname.',
    fix: 'Choose another nickname. To replace the secret of the other key, rotate it; if it is not needed, delete it first.',
  },
  secret_taken: {
    status: 409,
    title: 'A key with this hash exists or existed',
    meaning:
      'The hash is that of the current or previous secret of a key, of a leaked secret, or of a key with a given hash that was deleted. Each secret belongs to one key, and neither a deletion nor a leak can be undone.',
    cause:
      'Another key has the secret of this hash now or had it before its last rotation, the secret was reported as leaked, or a key that was created with this hash has been deleted.',
    fix: 'Check with the list of keys whether an earlier attempt created the key. Otherwise create a key without `sha256`.',
  },
  key_limit_reached: {
    status: 409,
    title: 'The account has the maximum number of keys',
    meaning: 'Delete a key that is no longer used.',
    cause: 'The account has the maximum number of API keys that the operator allows.',
    fix: 'Delete keys that are no longer used. The operator raises the limit with `KEYREEVE_KEYS_PER_ACCOUNT_MAX`.',
  },
  catalogue_full: {
    status: 409,
    title: 'The scope catalogue is full',
    meaning: `It has at most ${limits.catalogueScopesMax} scopes, deleted ones included.`,
    cause: 'The catalogue has the maximum number of names. Names are never removed, because keys may still have them.',
    fix: 'Use a scope that is declared, or declare a deleted one again: keys that still have it get it back.',
  },
  usage_not_kept: {
    status: 409,
    title: 'This installation keeps no usage',
    meaning: 'Verifications are not counted. An operator sets KEYREEVE_USAGE_DAYS to the number of days to keep.',
    cause: 'The operator has set `KEYREEVE_USAGE_DAYS=0`, so verifications are not counted.',
    fix: 'The operator removes this setting. For the last use of a key, read `lastUsedAt`.',
  },
  key_leaked: {
    status: 409,
    title: 'The current secret of the key has leaked',
    meaning:
      'The current secret was reported as leaked and has ended. The owner replaces it with POST /auth/api-keys/{id}/rotate, which enables the key if the leak disabled it.',
    cause: 'The request enables a key whose current secret was reported as leaked. No secret would be valid.',
    fix: 'The owner, or a manager of the service account, rotates the key with `POST /auth/api-keys/{id}/rotate`. This enables the key if the leak disabled it. A key that was disabled for another reason is enabled afterwards.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature is not valid',
    meaning:
      'The header `Github-Public-Key-Signature` does not have a signature of the body by the key that `Github-Public-Key-Identifier` names, or that key is not one of GitHub’s.',
    cause: 'The body was changed after it was signed, or GitHub has no public key with this identifier.',
    fix: 'Only GitHub can sign. Check whether a proxy changes the body; with KEYREEVE_GITHUB_SCANNING_KEYS, update that file.',
  },
  overlap_in_progress: {
    status: 409,
    title: 'The previous secret is still valid',
    meaning:
      'The key was rotated before, and its previous secret is valid until the end of the overlap. Wait, end it with DELETE /auth/api-keys/{id}/previous, or rotate with {"endPrevious": true}, which ends it immediately.',
    cause: 'The key was rotated before, and its previous secret is still valid.',
    fix: 'Configure the current secret in your clients, and read in `previous.lastUsedAt` of the key whether a client still uses the previous one. Then wait until `previous.expiresAt`, end the previous secret with `DELETE /auth/api-keys/{id}/previous`, or rotate with `{"endPrevious": true}`, which ends it immediately. If you did not receive the response to the last rotation, your clients still use the previous secret: rotate with `{"endCurrent": true}`, which replaces the secret that no client has.',
  },
  no_overlap_in_progress: {
    status: 409,
    title: 'The current secret is the only valid one',
    meaning:
      'A rotation with {"endCurrent": true} ends the current secret and keeps the previous one, but the key has no previous secret that is valid. To end the current secret, rotate with {"overlapSeconds": 0}.',
    cause:
      'The request ends the current secret with `{"endCurrent": true}`, but the key has no previous secret that is valid: it was not rotated, or the overlap of its last rotation has ended.',
    fix: 'If your clients use the current secret, rotate without `endCurrent`, so that it stays valid for the overlap. If no client has it, rotate with `{"overlapSeconds": 0}`.',
  },
  too_many_creations: {
    status: 429,
    title: 'Too many keys created',
    meaning:
      'The account created or rotated too many API keys, or created too many service accounts, in a short time. Wait for the seconds in Retry-After.',
    cause: 'The account created or rotated too many API keys in a short time.',
    fix: `${waitAndRetry} Reuse keys instead of creating one for each task.`,
  },
  too_many_changes: {
    status: 429,
    title: 'Too many changes of keys',
    meaning:
      'The account changed its API keys or service accounts too often in a short time. Wait for the seconds in Retry-After.',
    cause: `The account changed or rotated its API keys more than ${limits.keyChangesPerMinuteMax} times in a minute.`,
    fix: `${waitAndRetry} A request that only disables or deletes a key, or ends its previous secret, is not limited.`,
  },
} as const satisfies Record<string, ErrorDefinition>;
