/** Limits of the revocation check from outside. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const canaryLimits = {
  canaryCredentialSeconds: limit(3_600, 'Lifetime of a credential of revocation checks, if no other is set.'),
  canaryCredentialSecondsMax: limit(86_400, 'The longest lifetime of one: a day.'),
  // Longer than a run waits for the outcome of a deletion.
  canaryKeySeconds: limit(900, 'Lifetime of a canary key.'),
  // Each writes two audit events, which only the retention deletes.
  canaryKeysPerHourMax: limit(
    6_000,
    'Canary keys that one credential of revocation checks creates in an hour.',
    'too_many_creations',
  ),
} as const satisfies Limits;
