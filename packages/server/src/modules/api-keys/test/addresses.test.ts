/** Lists of IP ranges: each is parsed once, and their number in memory is bounded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRanges } from '../../../foundation/ip-address.ts';
import { AddressRanges } from '../addresses.ts';

const listsMax = 1_000;
const listOf = (index: number): string => `10.${index >> 8}.${index & 255}.0/24 2001:db8::/32`;
const ipOf = (index: number): string => `10.${index >> 8}.${index & 255}.7`;

test('a list is parsed once, and a new one replaces only the oldest', () => {
  let parses = 0;
  const ranges = new AddressRanges((cidrs) => {
    parses++;
    return parseRanges(cidrs);
  });
  const containAll = (from: number, to: number): void => {
    for (let index = from; index <= to; index++) {
      assert.equal(ranges.contain(listOf(index), ipOf(index)), true);
      assert.equal(ranges.contain(listOf(index), ipOf(index + 1)), false);
    }
  };
  containAll(1, listsMax);
  containAll(1, listsMax);
  assert.equal(parses, listsMax);
  containAll(listsMax + 1, listsMax + 1);
  assert.equal(parses, listsMax + 1);
  containAll(2, listsMax + 1);
  assert.equal(parses, listsMax + 1, 'the other lists stay');
  containAll(1, 1);
  assert.equal(parses, listsMax + 2, 'the oldest list was deleted');
});
