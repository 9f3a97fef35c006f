/** Limits of a key or an account: a rate limit, and a quota per day, per month or in total. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { Instant, orNull } from './schemas.ts';

const { keyRateMax, keyRateWindowSecondsMax, keyQuotaMax } = limits;

export const RateLimit = Named(
  'RateLimit',
  {
    limit: Type.Integer({ minimum: 1, maximum: keyRateMax, description: 'Tokens in a window', examples: [600] }),
    windowSeconds: Type.Integer({ minimum: 1, maximum: keyRateWindowSecondsMax, examples: [60] }),
    burst: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: keyRateMax,
        description: 'Tokens of the full bucket, at most `limit`. Default: `limit`',
        examples: [100],
      }),
    ),
  },
  { description: 'A token bucket: it holds `burst` tokens and is refilled evenly, with `limit` tokens in each window' },
);

export const Quota = Named('Quota', {
  limit: Type.Integer({
    minimum: 1,
    maximum: keyQuotaMax,
    description: 'Tokens in a period',
    examples: [10_000],
  }),
  per: Type.Enum(['day', 'month', 'ever'], {
    description: 'A UTC day, a UTC month, or a single period without an end',
    examples: ['month'],
  }),
});

export const KeyLimits = Named(
  'KeyLimits',
  { rate: Type.Optional(orNull(RateLimit)), quota: Type.Optional(orNull(Quota)) },
  { description: 'A verification spends one token of each, or as many as its cost, or is rejected' },
);
export type KeyLimits = Static<typeof KeyLimits>;

export const QuotaUse = Named('QuotaUse', {
  used: Type.Integer({
    minimum: 0,
    description: 'In the current period. Includes tokens that instances hold, at most 5% of the quota each',
    examples: [1204],
  }),
  resetsAt: orNull(Type.String({ ...Instant, description: 'null: never', examples: ['2026-12-01T00:00:00.000Z'] })),
});
export type QuotaUse = Static<typeof QuotaUse>;

/** Members of the responses that show the limits of a key or an account. */
export const shownLimits = { limits: orNull(KeyLimits), quotaUse: orNull(QuotaUse) };
