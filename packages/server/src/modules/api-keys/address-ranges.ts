/** Decides whether a client IP is in the ranges of a key. Parses each distinct list once. */
import { parseRanges, type IpRanges } from '../../foundation/ip-address.ts';

/** About 10 MB with the longest lists. */
const listsMax = 1_000;

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
