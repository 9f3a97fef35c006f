/** What `synchronous_standby_names` and the standbys that have confirmed a write prove. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lackOfProof } from '../standby-names.ts';

const proven = [
  ['b', ['b']],
  ['"node-2"', ['node-2']],
  ['Node2', ['nOde2', 'c']],
  ['"a ""b"""', ['a "b"']],
  ['1 (b)', ['b']],
  ['FIRST 1 (b)', ['b']],
  ['any 2 (b, "c")', ['c', 'b']],
  ['2 (b,c)', ['b', 'c', 'd']],
] as const;

const unproven = [
  ['', ['b'], /is empty/],
  ['*', ['b'], /must be the name of one standby/],
  ['"*"', ['b'], /must be the name of one standby/],
  ['b, c', ['b', 'c'], /must be the name of one standby/],
  ['ANY 1 (b, c)', ['b', 'c'], /must be the name of one standby/],
  ['FIRST 1 (b, c)', ['b', 'c'], /must be the name of one standby/],
  ['FIRST 2 (b, c, d)', ['b', 'c', 'd'], /must be the name of one standby/],
  ['2 (b, *)', ['b', 'c'], /must be the name of one standby/],
  ['b', [], /the standby b has not confirmed/],
  ['b', ['c'], /the standby b has not confirmed/],
  ['2 (b, c)', ['b'], /the standby c has not confirmed/],
] as const;

test('a write proves the primary only if each standby that may be promoted has confirmed it', () => {
  for (const [setting, confirmed] of proven) assert.equal(lackOfProof(setting, confirmed), undefined, setting);
  for (const [setting, confirmed, reason] of unproven)
    assert.match(lackOfProof(setting, confirmed) ?? '', reason, setting);
});
