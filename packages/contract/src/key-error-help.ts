/** Cause and fix of the errors of API keys. Part of the texts in error-help.ts. */
import type { ErrorHelp } from './error-definition.ts';
import type { keyErrors } from './key-errors.ts';
import { limits } from './limits.ts';

const waitAndRetry = 'Wait for the seconds in the `Retry-After` header, then send the request again.';
const checkId = 'Copy the complete id from the list.';

export const keyErrorHelp: Readonly<Record<keyof typeof keyErrors, ErrorHelp>> = {
  nickname_invalid: {
    cause:
      'The nickname of a key, or the name of a service account, is empty or too long, or contains white space at its ends or invisible characters.',
    fix: 'Choose a short visible name, for example `billing worker`.',
  },
  scope_invalid: {
    cause: 'A scope contains a space, a quote, a backslash or a character outside ASCII, or there are too many scopes.',
    fix: 'Use names such as `orders:read`, each once.',
  },
  not_key_owner: {
    cause: 'The API key in the path belongs to a different account than the access token.',
    fix: 'Use the access token of the account that owns the key. Refreshing the token does not help.',
  },
  invalid_management_key: {
    cause:
      'The request has no valid management key: the text is no key of this installation, the key is deleted, disabled or expired, its account is disabled, or the caller is outside its IP ranges.',
    fix: 'Send a valid key that has the scope `keyreeve:keys`, as `Authorization: Bearer …` or `X-API-Key: …`. An operator creates one with `keyreeve key create --scope keyreeve:keys`. If the key is limited to IP ranges, send the request from one of them; behind a proxy, set `KEYREEVE_TRUSTED_PROXIES`.',
  },
  reserved_scope: {
    cause:
      'The request contains a scope that begins with `keyreeve:` and that the caller cannot grant, or a management key changes or rotates a key that has one, or the key has a public key.',
    fix: 'Omit the scope. Otherwise an administrator creates the key within 5 minutes of a sign-in, or an operator creates it with `keyreeve key create --scope keyreeve:verify`. A key with a reserved scope is changed and rotated by its owner or by an operator. A key with a public key cannot have a reserved scope: create a key with a secret.',
  },
  management_key_required: {
    cause:
      'The request has an access token, and its body has `sha256`, or it sets the limits or entitlements of a service account.',
    fix: 'Send the request with a management key. Without one: omit `sha256` and use the secret of the response, or ask an operator to create the key with `keyreeve key create --sha256`. Administrators set limits with `PUT /admin/accounts/{id}/limits` and entitlements with `PUT /admin/accounts/{id}/entitlements`.',
  },
  scope_not_entitled: {
    cause: 'The request gives a key a scope that is not declared, or that needs an entitlement that the account lacks.',
    fix: 'Choose scopes with `"mayGrant": true` from `GET /auth/scopes`, or ask an administrator for the entitlement. With a management key, set the entitlements of the service account first. An operator gives the account of the key those that it may pass on: `keyreeve account entitlements <account> --set …`.',
  },
  wrong_environment: {
    cause: 'The key belongs to an environment that this URL does not accept, such as `test`.',
    fix: 'Use a key of the right environment. Its prefix shows the environment.',
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
  key_not_found: { cause: 'No API key has this id. It may be mistyped, or the key has been deleted.', fix: checkId },
  scope_not_found: {
    cause: 'The name is not in the scope catalogue, or the scope has been deleted.',
    fix: 'Copy the name from `GET /admin/scopes`. In the path, percent-encode it.',
  },
  key_leaked: {
    cause: 'The request enables a key whose current secret was reported as leaked. No secret would be valid.',
    fix: 'The owner, or a manager of the service account, rotates the key with `POST /auth/api-keys/{id}/rotate`. This enables the key if the leak disabled it. A key that was disabled for another reason is enabled afterwards.',
  },
  no_previous_secret: {
    cause: 'The key has only one secret: it was not rotated, or the overlap has ended.',
    fix: 'No action is necessary. To replace the current secret, rotate the key.',
  },
  nickname_taken: {
    cause: 'Another API key of the account has this nickname.',
    fix: 'Choose another nickname. To replace the secret of the other key, rotate it; if it is not needed, delete it first.',
  },
  secret_taken: {
    cause:
      'Another key has the secret of this hash now or had it before its last rotation, the secret was reported as leaked, or a key that was created with this hash has been deleted.',
    fix: 'Check with the list of keys whether an earlier attempt created the key. Otherwise create a key without `sha256`.',
  },
  key_limit_reached: {
    cause: 'The account has the maximum number of API keys that the operator allows.',
    fix: 'Delete keys that are no longer used. The operator raises the limit with `KEYREEVE_KEYS_PER_ACCOUNT_MAX`.',
  },
  catalogue_full: {
    cause: 'The catalogue has the maximum number of names. Names are never removed, because keys may still have them.',
    fix: 'Use a scope that is declared, or declare a deleted one again: keys that still have it get it back.',
  },
  usage_not_kept: {
    cause: 'The operator has set `KEYREEVE_USAGE_DAYS=0`, so verifications are not counted.',
    fix: 'The operator removes this setting. For the last use of a key, read `lastUsedAt`.',
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
  too_many_creations: {
    cause: 'The account created or rotated too many API keys in a short time.',
    fix: `${waitAndRetry} Reuse keys instead of creating one for each task.`,
  },
  too_many_changes: {
    cause: `The account changed or rotated its API keys more than ${limits.keyChangesPerMinuteMax} times in a minute.`,
    fix: `${waitAndRetry} A request that only disables or deletes a key, or ends its previous secret, is not limited.`,
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
};
