/** The bounds on bodies that are being received. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnfinishedBodies, type UnfinishedBody } from '../unfinished-bodies.ts';

const wide = { perCredentialMax: 100, perRangeMax: 100, bytesMax: 100, bytesPerNetworkMax: 100 };

/** Begins bodies whose names are noted when they are rejected. */
function newBodies(bounds: Partial<typeof wide>) {
  const rejected: string[] = [];
  const bodies = new UnfinishedBodies({ ...wide, ...bounds });
  const begin = (name: string, clientIp = '192.0.2.1', credential?: string): UnfinishedBody =>
    bodies.begin({ clientIp, credential }, () => rejected.push(name));
  return { begin, rejected };
}

test('beyond the bytes of all bodies, those that began first are rejected, whatever their size', () => {
  const { begin, rejected } = newBodies({ bytesMax: 10 });
  const [first, second, third] = [begin('first'), begin('second', '198.51.100.1'), begin('third', '203.0.113.1')];
  first.keep(1);
  second.keep(4);
  third.keep(5);
  assert.deepEqual(rejected, []);
  third.keep(1);
  assert.deepEqual(rejected, ['first']);
  third.keep(4);
  assert.deepEqual(rejected, ['first', 'second']);
  first.keep(1);
  third.keep(1);
  assert.deepEqual(rejected, ['first', 'second', 'third']);
});

test('a body that has ended frees its bytes once', () => {
  const { begin, rejected } = newBodies({ bytesMax: 10 });
  const first = begin('first');
  first.keep(6);
  first.end();
  first.end();
  begin('second').keep(10);
  assert.deepEqual(rejected, []);
  begin('third').keep(1);
  assert.deepEqual(rejected, ['second']);
});

test('the bodies of one network hold at most its bytes, and those of another one stay', () => {
  const { begin, rejected } = newBodies({ bytesPerNetworkMax: 4 });
  begin('elsewhere', '198.51.100.1').keep(4);
  begin('first').keep(3);
  begin('second', '192.0.2.2').keep(2);
  assert.deepEqual(rejected, ['first']);
});

test('a client IP range and a credential have a number of bodies', () => {
  const { begin, rejected } = newBodies({ perCredentialMax: 1, perRangeMax: 3 });
  begin('without a credential');
  begin('of a', '192.0.2.1', 'a');
  begin('of b', '192.0.2.1', 'b');
  assert.deepEqual(rejected, []);
  begin('of a, elsewhere', '192.0.2.2', 'a');
  assert.deepEqual(rejected, ['of a']);
  begin('one more');
  begin('two more');
  assert.deepEqual(rejected, ['of a', 'without a credential']);
});
