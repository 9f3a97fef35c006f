/** Limits of issuers of identity tokens. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const issuerLimits = {
  issuersMax: limit(100, 'Issuers for the keys of all accounts.', 'issuer_limit_reached'),
  issuersPerAccountMax: limit(10, 'Issuers of one service account.', 'issuer_limit_reached'),
  issuerUrlCharsMax: limit(512, 'The URL of an issuer.', 'issuer_url_refused'),
  issuerClaimsMax: limit(10, 'Id claims of an issuer, and list claims.', 'invalid_request'),
  issuerClaimCharsMax: limit(256, 'The JSON pointer of a claim.'),
  issuerFixedKeySetBytesMax: limit(12_288, 'A fixed JWK set of an issuer, as JSON in UTF-8.', 'invalid_request'),
  issuerLifetimeSeconds: limit(3_600, 'Lifetime of identity tokens of an issuer, if no other is set.'),
  issuerLifetimeSecondsMin: limit(60, 'The shortest of them.', 'invalid_request'),
  // Entra issues tokens of managed identities for 24 h, and dates them back by 5 minutes: in the responses of
  // https://learn.microsoft.com/en-us/azure/azure-monitor/essentials/metrics-store-custom-rest-api, `expires_in` is 86399, and
  // `expires_on` is 86,700 s after `not_before`. In the sample tokens of its library MSAL, `iat` equals `nbf`.
  issuerLifetimeSecondsMax: limit(86_700, 'The longest of them: a day and 5 minutes.', 'invalid_request'),
  issuerKeySetBytesMax: limit(524_288, 'A fetched JWK set, and the metadata of an issuer. More: 503.'),
  issuerKeySetKeysMax: limit(100, 'Keys in a JWK set. More: 503.'),
  issuerKeySetMsMax: limit(5_000, 'Longest time to fetch the metadata and the JWK set of an issuer. Longer: 503.'),
  issuerKeySetAgeSeconds: limit(
    300,
    'A JWK set is used for this time. A signing key that the issuer has removed is accepted for as long.',
  ),
  issuerKeySetRefreshSeconds: limit(60, 'Shortest time between two fetches because of an unknown `kid`.'),
  issuerKeySetRetrySeconds: limit(5, 'After a failed fetch, no other fetch for this time.'),
  issuerKeySetsMax: limit(
    1_000,
    'JWK sets in the memory of a process. The one that was used least recently is removed.',
  ),
  issuerKeySetWaitingMax: limit(
    64,
    'Exchanges that wait for a fetch of one issuer, per process. More: 503.',
    'unavailable',
  ),
  issuerFetchesMax: limit(16, 'Fetches of JWK sets in progress, per process. Others wait, at most 5 s.'),
  issuerAccountFetchesMax: limit(4, 'The same for issuers of service accounts, and 1 for each service account.'),
  identityTokenBytesMax: limit(16_384, 'An identity token. Longer: rejected before its signature.'),
  identityTokenSkewSeconds: limit(60, 'Tolerated difference of `exp`, `nbf` and `iat` from the server’s time.'),
  identityTokenChecksMax: limit(2, 'Signatures of identity tokens that a process verifies at once. Others wait.'),
  identityTokenChecksWaitingMax: limit(256, 'Waiting ones. More: 503.', 'unavailable'),
  identityTokenChecksPerOwnerMax: limit(
    64,
    'Waiting ones of one client IP range for one issuer. More: 429.',
    'too_many_in_progress',
  ),
  identityTokenCheckWaitMsMax: limit(2_000, 'Longest wait of one. Longer: 503.', 'unavailable'),
} as const satisfies Limits;
