/** Verifications since the start, by result, for metrics. */
import type { Refusal } from '@keyreeve/contract';

/** Plain numbers, because this is the hot path. */
export type ResultCounts = Record<'api_key' | 'access_token' | Refusal, number>;

export const newResultCounts = (): ResultCounts => ({
  api_key: 0,
  access_token: 0,
  malformed: 0,
  wrong_kind: 0,
  not_found: 0,
  expired: 0,
  disabled: 0,
  enrolment_required: 0,
  wrong_environment: 0,
  address_required: 0,
  address_not_allowed: 0,
  insufficient_scope: 0,
  rate_limited: 0,
  quota_exceeded: 0,
});
