/** The owner's own data about a key. */
import { limits } from '@keyreeve/contract';
import { invalidAt } from '../../foundation/errors.ts';

/** @returns JSON; null for no metadata @throws DomainError `invalid_request` if it is too long or has an inexact number */
export function toMetadata(value: object | null): string | null {
  if (value === null) return null;
  assertExactNumbers(value, '/metadata');
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.keyMetadataBytesMax)
    throw invalidAt('/metadata', `Expected at most ${limits.keyMetadataBytesMax} bytes as JSON, but found ${bytes}.`);
  return text;
}

/**
 * Applies a JSON merge patch (RFC 7396): members that the patch does not name stay, and null removes a member.
 * @param stored JSON; null for no metadata
 * @throws DomainError as {@link toMetadata}
 */
export const mergeMetadata = (stored: string | null, patch: object | null): string | null =>
  patch === null ? null : toMetadata(merge(stored === null ? {} : JSON.parse(stored), patch) as object);

/** Rejects numbers that JSON.parse does not represent exactly, so that none is stored with another value. */
function assertExactNumbers(value: unknown, pointer: string): void {
  if (typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER))
    throw invalidAt(pointer, 'Expected a number of at most 2^53 − 1. Send a larger one as text.');
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value))
    assertExactNumbers(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** RFC 7396 section 2. The JSON parser has rejected `__proto__` and deep nesting. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch))
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
