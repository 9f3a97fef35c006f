/** Limits of the exchange of the credentials of keys that have no public key. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const exchangeLimits = {
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
} as const satisfies Limits;
