/** Limits of a key or an account: how many verifications they accept in a time. */
import Type, { type Static } from 'typebox';
import { Instant, orNull } from './schemas.ts';

/** Bounds of the members. Products of them fit into 64 bits, see `key-limits/store.ts`. */
export const keyLimitBounds = {
  rateMax: 1_000_000,
  windowSecondsMax: 86_400,
  quotaMax: 10 ** 12,
  costMax: 10_000,
} as const;

const strict = { additionalProperties: false } as const;
const { rateMax, windowSecondsMax, quotaMax } = keyLimitBounds;

export const RateLimit = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: rateMax, description: 'Verifications in a window', examples: [600] }),
    windowSeconds: Type.Integer({ minimum: 1, maximum: windowSecondsMax, examples: [60] }),
    burst: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: rateMax,
        description: 'Verifications at once, at most the limit; without it the limit',
        examples: [100],
      }),
    ),
  },
  {
    ...strict,
    description: 'A bucket of `burst` verifications, which `limit` verifications in each window refill evenly',
  },
);

export const Quota = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: quotaMax,
      description: 'Verifications in a period',
      examples: [10_000],
    }),
    per: Type.Enum(['day', 'month', 'ever'], { description: 'A day or a month in UTC', examples: ['month'] }),
  },
  strict,
);

export const KeyLimits = Type.Object(
  { rate: Type.Optional(orNull(RateLimit)), quota: Type.Optional(orNull(Quota)) },
  { ...strict, description: 'Both must have room for a verification' },
);
export type KeyLimits = Static<typeof KeyLimits>;

export const QuotaUse = Type.Object(
  {
    used: Type.Integer({
      minimum: 0,
      description: 'In the current period, with up to 5 % of the limit that instances have reserved but not used',
      examples: [1204],
    }),
    resetsAt: orNull(Type.String({ ...Instant, description: 'null: never', examples: ['2026-12-01T00:00:00.000Z'] })),
  },
  strict,
);
export type QuotaUse = Static<typeof QuotaUse>;

/** Members of the responses that show the limits of a key or an account. */
export const shownLimits = { limits: orNull(KeyLimits), quotaUse: orNull(QuotaUse) };
