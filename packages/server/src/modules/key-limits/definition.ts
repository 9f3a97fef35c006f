/** Limits as accounts and administrators define them, and the meters that enforce them. */
import type { KeyLimits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { MeterKind, QuotaPeriod } from './store.ts';

/** One limit of one key or account. */
export interface Meter {
  /** The name of the limit in responses: `key-rate`, `key-quota`, `account-rate`, `account-quota`. */
  readonly name: string;
  /** The id of a key or an account. */
  readonly subject: string;
  readonly kind: MeterKind;
  /** Tokens for each window or period. */
  readonly quantity: number;
  /** Tokens of the full bucket; for a quota, the same as `quantity`. */
  readonly capacity: number;
  /** Of a rate; 0 for a quota. */
  readonly windowSeconds: number;
  /** Of a quota. */
  readonly per: QuotaPeriod;
}

/**
 * @param pointer of the limits in the request
 * @returns canonical JSON, the same for the same limits; null if there are none
 * @throws DomainError `invalid_request` if the burst exceeds the limit
 */
export function toLimitsText(value: KeyLimits | null, pointer = '/limits'): string | null {
  const { rate, quota } = value ?? {};
  const { limit, windowSeconds, burst = limit } = rate ?? {};
  if (limit !== undefined && burst !== undefined && burst > limit)
    throw new DomainError('invalid_request', {
      errors: [{ pointer: `${pointer}/rate/burst`, detail: `Expected at most the limit, ${limit}.` }],
    });
  if (!rate && !quota) return null;
  return JSON.stringify({
    rate: rate ? { limit, windowSeconds, burst } : null,
    quota: quota ? { limit: quota.limit, per: quota.per } : null,
  });
}

/**
 * A member that the patch does not have stays, and null removes it.
 * @param stored canonical JSON
 * @throws DomainError as {@link toLimitsText}
 */
export const mergeLimits = (stored: string | null, patch: KeyLimits | null): string | null =>
  patch === null ? null : toLimitsText({ ...toLimits(stored), ...patch });

/** The limits of a stored text, for responses. */
export const toLimits = (text: string | null): StoredLimits | null =>
  text === null ? null : (JSON.parse(text) as StoredLimits);

/** Every member is present. */
interface StoredLimits {
  readonly rate: { readonly limit: number; readonly windowSeconds: number; readonly burst: number } | null;
  readonly quota: { readonly limit: number; readonly per: QuotaPeriod } | null;
}

/** @param subject the id of the key or account @param text canonical JSON */
export function metersOf(owner: 'key' | 'account', subject: string, text: string): readonly Meter[] {
  const { rate, quota } = JSON.parse(text) as StoredLimits;
  const meters: Meter[] = [];
  if (rate) {
    const { limit, windowSeconds, burst } = rate;
    meters.push({
      name: `${owner}-rate`,
      subject,
      kind: 'rate',
      quantity: limit,
      capacity: burst,
      windowSeconds,
      per: 'ever',
    });
  }
  if (quota) {
    const { limit, per } = quota;
    meters.push({
      name: `${owner}-quota`,
      subject,
      kind: 'quota',
      quantity: limit,
      capacity: limit,
      windowSeconds: 0,
      per,
    });
  }
  return meters;
}
