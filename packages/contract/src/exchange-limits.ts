/** Limits of keys with a trust, and of the exchange of their identity tokens. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const exchangeLimits = {
  trustClaimsMax: limit(10, 'Claims of the trust of a key.', 'invalid_request'),
  trustClaimNameCharsMax: limit(256, 'The name of a claim of a trust.', 'invalid_request'),
  trustClaimCharsMax: limit(512, 'A text of a claim of a trust.', 'invalid_request'),
  trustAudienceCharsMax: limit(255, 'The audience of a trust.', 'invalid_request'),
  trustLiveSecretsMax: limit(
    1_000,
    'Valid short-lived secrets of a key that has no public key. One more is refused.',
    'too_many_exchanges',
  ),
  trustExchangesPerMinuteMax: limit(
    1_200,
    'Exchanges of one key that has no public key in a minute.',
    'too_many_exchanges',
  ),
  keyTokensMax: limit(5, 'Accepted identity tokens that a key shows, and as many rejected ones.'),
  // With the number of rejected ones: at most 12 writes in a minute.
  rejectedTokenSeconds: limit(25, 'Time in which a rejected identity token of a key replaces none that it shows.'),
  rejectedTokenBytesMax: limit(
    4_096,
    'Claims of a rejected identity token, as JSON. More: only those that the trust names.',
  ),
} as const satisfies Limits;
