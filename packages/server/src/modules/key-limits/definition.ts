/** Limits as accounts and administrators define them, and the meters that enforce them. */
import { KeyLimits } from '@keyreeve/contract';
import { unavailable } from '../../foundation/database/unavailable.ts';
import { invalidAt } from '../../foundation/errors.ts';
import { validator } from '../../http/validation.ts';
import type { MeterKey, MeterKind, QuotaPeriod } from './store.ts';

/**
 * Tokens of a rate are spent within this part of its window, so a window accepts no more than the burst, what is refilled in
 * it, and what was drawn this long before it, which is at most {@link forecastPart} of the burst for each instance. With a
 * validity of a second, every third verification of 10,000 hot keys would need a draw.
 */
const ratePart = 10;
const rateTokensMs = { min: 1_000, max: 60_000 } as const;
/** Tokens of a quota are valid until the end of its period. Draws take as many as were spent in this time. */
const quotaForecastMs = 10_000;
/** An instance holds at most this part of a limit for later verifications. */
const forecastPart = 20;

/** One limit of one key or account. */
export interface Meter extends MeterKey {
  readonly owner: 'key' | 'account';
  /** The name of the limit in responses: `key-rate`, `key-quota`, `account-rate`, `account-quota`. */
  readonly name: string;
  /** Of its row: subject and kind. */
  readonly row: string;
  /** Tokens for each window or period. */
  readonly quantity: number;
  /** Tokens of the full bucket; for a quota, the same as `quantity`. */
  readonly capacity: number;
  /** Of a rate; 0 for a quota. */
  readonly windowSeconds: number;
  /** Of a quota. */
  readonly per: QuotaPeriod;
  /** Of a rate, how long tokens are valid after a draw; of a quota, how far a forecast reaches. Milliseconds. */
  readonly tokensMs: number;
  /** Tokens that an instance may hold for later verifications. */
  readonly forecastMax: number;
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
    throw invalidAt(`${pointer}/rate/burst`, `Expected at most the limit, ${limit}.`, { code: 'too_large', limit });
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

/** Every member is present. A type alias, because details of audit events have no interfaces. */
type StoredLimits = {
  readonly rate: { readonly limit: number; readonly windowSeconds: number; readonly burst: number } | null;
  readonly quota: { readonly limit: number; readonly per: QuotaPeriod } | null;
};

/**
 * @param subject the id of the key or account
 * @param text canonical JSON
 * @throws DomainError `unavailable` for text that this program does not write: its verifications fail, and no others
 */
export function metersOf(owner: Meter['owner'], subject: string, text: string): readonly Meter[] {
  const { rate, quota } = validLimits(text);
  const meters: Meter[] = [];
  if (rate) {
    const { limit: quantity, windowSeconds, burst: capacity } = rate;
    const sizes = { quantity, capacity, windowSeconds, per: 'ever' } as const;
    const { min, max } = rateTokensMs;
    const tokensMs = Math.min(max, Math.max(min, (windowSeconds * 1_000) / ratePart));
    // Tokens that expire are lost. The limit refills no more than this meanwhile.
    const refilled = (quantity * tokensMs) / (windowSeconds * 1_000);
    const forecastMax = Math.floor(Math.min(capacity / forecastPart, refilled));
    meters.push({ owner, subject, ...namesOf(owner, subject, 'rate'), ...sizes, tokensMs, forecastMax });
  }
  if (quota) {
    const { limit: quantity, per } = quota;
    const sizes = { quantity, capacity: quantity, windowSeconds: 0, per };
    const forecastMax = Math.floor(quantity / forecastPart);
    meters.push({
      owner,
      subject,
      ...namesOf(owner, subject, 'quota'),
      ...sizes,
      tokensMs: quotaForecastMs,
      forecastMax,
    });
  }
  return meters;
}

const checkLimits = validator(KeyLimits);

function validLimits(text: string): StoredLimits {
  try {
    const stored = JSON.parse(text) as StoredLimits;
    checkLimits(stored);
    if (toLimitsText(stored) === text) return stored;
  } catch (cause) {
    throw unavailable(new Error(`invalid limits are stored: ${text.slice(0, 200)}`, { cause }));
  }
  throw unavailable(new Error(`stored limits are not in canonical form: ${text.slice(0, 200)}`));
}

const namesOf = (owner: Meter['owner'], subject: string, kind: MeterKind) => ({
  kind,
  name: `${owner}-${kind}`,
  row: rowNameOf({ kind, subject }),
});

/** The text by which memory finds the row of a limit. */
export const rowNameOf = ({ kind, subject }: MeterKey): string => `${kind} ${subject}`;
