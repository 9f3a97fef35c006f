/** The IP addresses and ranges from which a key is valid. */
import { limits } from '@keyreeve/contract';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { canonicalCidr } from '../../foundation/ip-address.ts';

/**
 * @returns the ranges in canonical form, separated by spaces
 * @throws DomainError `invalid_request` for text that is not an address or a range, a range with host bits, a duplicate, or
 *   an empty or too long list
 */
export function parseAddresses(texts: readonly string[]): string {
  const errors: FieldError[] = [];
  const found = new Set<string>();
  if (texts.length === 0 || texts.length > limits.addressesPerKeyMax)
    errors.push({
      pointer: '/addresses',
      detail: `Expected 1 to ${limits.addressesPerKeyMax} IP addresses or ranges.`,
    });
  else
    for (const [index, text] of texts.entries()) {
      const range = canonicalCidr(text);
      if ('problem' in range) errors.push({ pointer: `/addresses/${index}`, detail: range.problem });
      else if (found.has(range.cidr))
        errors.push({ pointer: `/addresses/${index}`, detail: `${range.cidr} is already in the list.` });
      else found.add(range.cidr);
    }
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
  return [...found].join(' ');
}
