/** Times in requests, which are RFC 3339 texts. */
import { invalidAt } from './errors.ts';

/**
 * @param name of the member
 * @returns milliseconds since 1970; undefined for an absent time
 * @throws DomainError `invalid_request` for a leap second, which RFC 3339 permits and Date does not have
 */
export function toMs(name: string, text: string): number;
export function toMs(name: string, text: string | undefined): number | undefined;
export function toMs(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalidAt(`/${name}`, 'Expected a time without a leap second.');
  return ms;
}
