/** The usage of API keys: how often verifications accepted and refused them. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant, KeyId, QueryTime, strict } from './schemas.ts';

export const UsageQuery = Type.Object(
  {
    step: Type.Optional(
      Type.Enum(['hour', 'day'], { description: 'One entry for each hour (the default) or day, in UTC' }),
    ),
    from: QueryTime('RFC 3339. The first entry contains this time. By default, 24 hours or 30 days before `to`'),
    to: QueryTime('RFC 3339. No entry begins at this time or later. By default, now'),
  },
  strict,
);
export type UsageQuery = Static<typeof UsageQuery>;

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

export const UsageEntry = Named(
  'ApiKeyUsageEntry',
  {
    at: Instant,
    accepted: Count('Verifications that accepted the key', 1842),
    refused: Count(
      'Verifications that refused the key: disabled, expired, without a required scope, or not valid from the client IP',
      3,
    ),
  },
  { description: '`at`: the start of the hour or day' },
);
export type UsageEntry = Static<typeof UsageEntry>;

export const KeyUsage = Named('ApiKeyUsage', {
  usage: Type.Array(UsageEntry),
  uncounted: Count(
    'Verifications of all API keys of the installation in the period that were counted for no key, because too many keys were in use at once. Above 0, `usage` can be incomplete',
    0,
  ),
});
export type KeyUsage = Static<typeof KeyUsage>;

/** The parts that the routes of owners and administrators share. */
export const usageRead = {
  summary: 'Get the usage of an API key',
  description: `Verifications of the key, oldest first. Hours and days without verifications are omitted. Hours are available for ${limits.usageHoursKeptDays} days; a request covers at most ${limits.usageRowsMax} hours or days. A verification is included after at most 10 seconds.`,
  isExpensive: true,
  query: UsageQuery,
  success: { status: 200, description: 'The usage', schema: KeyUsage },
} as const;

export const getKeyUsage = route('getKeyUsage', 'GET /auth/api-keys/:id/usage', {
  ...usageRead,
  tag: 'API keys',
  auth: 'access_token',
  params: Type.Object({ id: KeyId }),
  errors: ['invalid_request', 'not_key_owner', 'key_not_found', 'usage_not_kept'],
});
