/** API keys in requests and in the arguments of the command line. */
import { limits, type KeyChangeBody, type KeyLimits, type RotationBody } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { numberIdOf } from '../../foundation/number-id.ts';

/** Absent members stay as they are; null removes the value. */
export interface KeyChangeRequest {
  readonly nickname?: string;
  readonly scopes?: readonly string[];
  /** Milliseconds since 1970; null for never. */
  readonly expiresAt?: number | null;
  readonly disabled?: boolean;
  /** IP addresses and ranges. */
  readonly addresses?: readonly string[] | null;
  /** Merge patches (RFC 7396). */
  readonly limits?: KeyLimits | null;
  readonly metadata?: object | null;
}

/** The current secret becomes the previous one, until the end of the overlap. */
export interface Replacement {
  readonly overlapSeconds: number;
  /** Whether the overlap of an earlier rotation ends now. */
  readonly endPrevious: boolean;
}

/**
 * The current secret ends now, and the previous one keeps its overlap: for a caller that did not receive the response to the
 * earlier rotation, so that no client has the current secret.
 */
export interface CurrentEnd {
  readonly endCurrent: true;
}

export type RotationRequest = Replacement | CurrentEnd;

/**
 * Parses decimal digits without a leading zero, up to 2^53 − 1.
 * @param detail of the error
 * @throws DomainError `key_not_found` for any other text
 */
export function keyIdOf(text: string, detail?: string): number {
  const id = numberIdOf(text);
  if (id === undefined) throw new DomainError('key_not_found', detail === undefined ? {} : { detail });
  return id;
}

/** The change that a body requests. */
export function toChangeRequest({ expiresAt: text, ...others }: KeyChangeBody): KeyChangeRequest {
  const expiresAt = toTime(text);
  return expiresAt === undefined ? others : { ...others, expiresAt };
}

/**
 * The rotation that a body requests.
 * @throws DomainError `invalid_request` if it ends the current secret and also sets an overlap or ends the previous one
 */
export function toRotationRequest(body: RotationBody): RotationRequest {
  const { overlapSeconds, endPrevious, endCurrent = false } = body;
  if (!endCurrent)
    return {
      overlapSeconds: overlapSeconds ?? limits.rotationOverlapSeconds,
      endPrevious: endPrevious ?? false,
    };
  const others = Object.entries({ overlapSeconds, endPrevious }).filter(([, value]) => value !== undefined);
  if (others.length === 0) return { endCurrent };
  throw new DomainError('invalid_request', {
    errors: others.map(([name]) => ({
      pointer: `/${name}`,
      detail: 'Not allowed with endCurrent: the previous secret stays valid until the end of its overlap.',
    })),
  });
}

/** @returns milliseconds since 1970, NaN for a leap second; null and undefined as they are */
export const toTime = (text: string | null | undefined): number | null | undefined =>
  typeof text === 'string' ? Date.parse(text) : text;
