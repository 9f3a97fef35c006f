/** How long a proof that a PostgreSQL server is the newest primary holds, and when a promoted server can remove rights. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { unfencedTimes } from '../database-waits.ts';
import { PrimaryProof, UnprovenServerError, type ServerIdentity } from '../primary-proof.ts';

const times = { validMs: 15_000, settleMs: 16_000 };
const first: ServerIdentity = { system: '1', timeline: 1, address: '10.0.0.1 5432' };
const second: ServerIdentity = { system: '1', timeline: 2, address: '10.0.0.2 5432' };

class Fixture {
  ms = 1_000_000;
  readonly proof = new PrimaryProof({ ...times, monotonicMs: () => this.ms });

  accepts(server: ServerIdentity): boolean {
    try {
      this.proof.assertProven(server);
      return true;
    } catch (error) {
      assert.ok(error instanceof UnprovenServerError);
      return false;
    }
  }
}

test('a server without a proof is not read', () => {
  const { proof } = new Fixture();
  proof.meet(first);
  proof.problem = 'no standby';
  assert.throws(() => proof.assertProven(first), /not proven to be the newest primary: no standby/);
  assert.equal(proof.refusedReads, 1);
  assert.equal(proof.ageMs, undefined);
});

test('a proof holds for its time, counted from before the write, and each write renews it', () => {
  const fixture = new Fixture();
  const { proof } = fixture;
  proof.meet(first);
  const sentMs = fixture.ms;
  // The acknowledgement is late, for example because the process was stopped.
  fixture.ms += 10_000;
  proof.prove(first, sentMs);
  assert.equal(proof.ageMs, 10_000);
  assert.ok(fixture.accepts(first));
  fixture.ms = sentMs + times.validMs;
  assert.ok(fixture.accepts(first));
  fixture.ms++;
  assert.ok(!fixture.accepts(first));
  proof.prove(first, fixture.ms);
  assert.ok(fixture.accepts(first));
});

test('a proof belongs to one server: not to another address, cluster or earlier timeline', () => {
  const fixture = new Fixture();
  const { proof } = fixture;
  proof.meet(second);
  proof.prove(second, fixture.ms);
  assert.ok(fixture.accepts(second));
  assert.ok(!fixture.accepts({ ...second, address: '10.0.0.3 5432' }));
  assert.ok(!fixture.accepts({ ...second, system: '2' }));
  assert.ok(!fixture.accepts({ ...second, timeline: 1 }));
});

test('after a promotion, the earlier primary is refused at once, and its proof covers the new one until it ends', () => {
  const fixture = new Fixture();
  const { proof } = fixture;
  proof.meet(first);
  proof.prove(first, fixture.ms);
  fixture.ms += 5_000;
  proof.meet(second);
  assert.ok(!fixture.accepts(first));
  assert.throws(() => proof.meet(first), /earlier primary: its timeline is 1, and that of the newest is 2/);
  assert.throws(() => proof.meet({ ...second, system: '2' }), /belongs to another cluster/);
  // A write of the earlier primary that was acknowledged late does not replace a newer proof.
  fixture.ms += 10_000;
  assert.ok(fixture.accepts(second));
  fixture.ms++;
  assert.ok(!fixture.accepts(second));
  proof.prove(second, fixture.ms);
  proof.prove(first, fixture.ms - 20_000);
  assert.ok(fixture.accepts(second));
});

test('a server that was a standby is proven until its time as a standby is too long ago', () => {
  const fixture = new Fixture();
  const { proof } = fixture;
  proof.meetStandby(second, fixture.ms);
  proof.meet(second);
  assert.ok(fixture.accepts(second));
  assert.ok(!fixture.accepts({ ...second, address: first.address }));
  assert.ok(!fixture.accepts({ ...second, system: '2' }));
  fixture.ms += times.validMs + 1;
  assert.ok(!fixture.accepts(second));
});

test('a server removes no rights before each proof of an earlier primary has ended, also with clocks that differ by 3 %', () => {
  const fixture = new Fixture();
  const { proof } = fixture;
  assert.equal(proof.unsettledMs, times.settleMs);
  proof.meet(first);
  fixture.ms += times.settleMs - 1;
  assert.equal(proof.unsettledMs, 1);
  assert.ok(!proof.isSettled(first));
  fixture.ms++;
  assert.ok(proof.isSettled(first));
  assert.equal(proof.unsettledMs, 0);
  // A second connection begins no second wait, and another timeline does.
  proof.meet(first);
  assert.equal(proof.unsettledMs, 0);
  proof.meet(second);
  assert.ok(!proof.isSettled(first) && !proof.isSettled(second));
  assert.equal(proof.unsettledMs, times.settleMs);
  proof.settle(first);
  assert.ok(!proof.isSettled(second));
  proof.settle(second);
  assert.ok(proof.isSettled(second));
  assert.deepEqual(unfencedTimes, times);
  assert.ok(limits.postgresSettleSeconds * 0.97 > limits.postgresProofSeconds);
});
