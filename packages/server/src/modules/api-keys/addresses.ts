/** The IP addresses and ranges from which a key is valid. */
import { limits } from '@keyreeve/contract';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { canonicalCidr, parseRanges, type IpRanges } from '../../foundation/ip-address.ts';

/** About 10 MB with the longest lists. */
const listsMax = 1_000;

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
      ...(texts.length === 0
        ? ({ code: 'too_few', limit: 1 } as const)
        : ({ code: 'too_many', limit: limits.addressesPerKeyMax } as const)),
    });
  else
    for (const [index, text] of texts.entries()) {
      const range = canonicalCidr(text);
      const pointer = `/addresses/${index}`;
      if ('problem' in range) errors.push({ pointer, ...faultOf(range) });
      else if (found.has(range.cidr))
        errors.push({ pointer, detail: `${range.cidr} is already in the list.`, code: 'repeated' });
      else found.add(range.cidr);
    }
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
  return [...found].join(' ');
}

const faultOf = ({
  problem,
  meant,
}: {
  readonly problem: string;
  readonly meant?: string;
}): Omit<FieldError, 'pointer'> =>
  meant === undefined
    ? { detail: problem, code: 'not_address' }
    : { detail: problem, code: 'host_bits', expected: meant };

/** Decides whether a client IP is in the ranges of a key. Parses each distinct list once. */
export class AddressRanges {
  /** By the text of the row that each verification reads, so a changed list is never confused with the earlier one. */
  readonly #parsed = new Map<string, IpRanges>();
  readonly #parse: typeof parseRanges;

  constructor(parse = parseRanges) {
    this.#parse = parse;
  }

  /** @param ranges in canonical form, separated by spaces */
  contain(ranges: string, ip: string): boolean {
    let parsed = this.#parsed.get(ranges);
    if (!parsed) {
      parsed = this.#parse(ranges.split(' '));
      if (this.#parsed.size >= listsMax) this.#deleteOldest();
      this.#parsed.set(ranges, parsed);
    }
    return parsed(ip);
  }

  /** One at a time: if all were deleted, all verifications would parse their lists again at once. */
  #deleteOldest(): void {
    for (const ranges of this.#parsed.keys()) {
      this.#parsed.delete(ranges);
      return;
    }
  }
}
