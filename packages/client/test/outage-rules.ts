/** Rules about failures: what a caller and the log learn of them, and how a caller ends its call. */
import assert from 'node:assert/strict';
import { settled } from './held-transport.ts';
import { held, isUnavailable, many, outcomeNow, serviceKey, type Rule } from './rule.ts';

const problem = (code: string): string => JSON.stringify({ type: `/problems/${code}`, code });

export const outageRules: readonly Rule[] = [
  {
    name: 'an error has the status and the code of the service, and Retry-After in seconds',
    async check(library) {
      for (const [answer, expected] of [
        [{ status: 429, text: problem('too_many_in_progress'), retryAfter: '7' }, [429, 'too_many_in_progress', 7]],
        [{ status: 401, text: problem('invalid_credential') }, [401, 'invalid_credential', undefined]],
        [{ status: 502, text: '<html>', retryAfter: 'Sun, 29 Nov 2026 21:00:00 GMT' }, [502, 'unavailable', undefined]],
      ] as const) {
        const { start, sent } = held(library);
        const verified = start('a');
        await settled();
        sent[0]?.refuse(answer);
        const failed = await outcomeNow(verified);
        const { status, code, retryAfterSeconds } = (failed.status === 'rejected' ? failed.reason : {}) as {
          readonly [name: string]: unknown;
        };
        assert.deepEqual([status, code, retryAfterSeconds], expected);
      }
    },
  },
  {
    name: 'an outage has one message per minute, with the number of failures and the last reason',
    async check(library) {
      const { start, sent, timers, logged } = held(library);
      const fail = async (count: number): Promise<void> => {
        const verified = many(count, (index) => start(`key ${index}`));
        await settled();
        sent.at(-1)?.refuse({ status: 503, text: problem('unavailable') });
        await Promise.allSettled(verified);
      };
      const reason = 'Keyreeve is unavailable: the service answered 503 (unavailable)';
      await fail(3);
      timers.move(59_999);
      await fail(2);
      assert.deepEqual(logged, [`${reason} (1 verification failed)`]);
      timers.move(1);
      await fail(1);
      assert.deepEqual(logged.slice(1), [`${reason} (5 verifications failed in 60 s)`]);
      await fail(4);
      timers.move(90_000);
      // The service answers again.
      const verified = start('a');
      await settled();
      sent.at(-1)?.answer();
      assert.equal((await verified).valid, true);
      assert.deepEqual(logged.slice(2), [`${reason} (4 verifications failed in 90 s)`]);
    },
  },
  {
    name: 'the service key is read for each batch, and one that cannot be read fails the batch only',
    async check(library) {
      let key: string | Error = 'krv_first';
      const { start, sent } = held(library, () => (key instanceof Error ? Promise.reject(key) : Promise.resolve(key)));
      const verified = [start('a')];
      await settled();
      key = 'krv_second';
      verified.push(start('b'));
      await settled();
      assert.deepEqual(
        sent.map(({ authorization }) => authorization),
        ['Bearer krv_first', 'Bearer krv_second'],
      );
      for (const batch of sent) batch.answer();
      assert.equal((await Promise.all(verified)).length, 2);
      for (const [failing, message] of [
        [new Error('no such file'), /no such file/],
        ['a\nb', /the function has returned no API key/],
        ['', /the function has returned no API key/],
      ] as const) {
        key = failing;
        const failed = await outcomeNow(start('c'));
        assert.ok(failed.status === 'rejected' && isUnavailable(library)(failed.reason), failed.status);
        assert.match(String(failed.reason), message);
      }
      assert.equal(sent.length, 2);
      key = serviceKey;
      const again = start('d');
      await settled();
      sent[2]?.answer();
      assert.equal((await again).valid, true);
    },
  },
  {
    name: 'a service key that never comes ends with its callers',
    async check(library) {
      let keys = 0;
      const never = new Promise<string>(() => undefined);
      const { start, sent, timers } = held(library, () => (keys++ < 2 ? never : serviceKey));
      const verified = [start('a')];
      await settled();
      verified.push(start('b'));
      await settled();
      timers.move(3_000);
      for (const one of verified) assert.equal((await outcomeNow(one)).status, 'rejected');
      const later = start('c');
      await settled();
      sent[0]?.answer();
      assert.equal((await later).valid, true);
    },
  },
  {
    name: 'a signal ends the call with its reason, and its question is not sent; other callers keep theirs',
    async check(library) {
      const { start, sent, logged } = held(library);
      const aborted = AbortSignal.abort(new Error('before'));
      assert.match(String(await rejection(start('a', { signal: aborted }))), /before/);
      const controller = new AbortController();
      const { signal } = controller;
      const leaving = [start('b', { signal }), start('b', { signal, cost: 0 })];
      const staying = start('b', { cost: 0 });
      controller.abort(new Error('left'));
      for (const one of leaving) assert.match(String(await rejection(one)), /^Error: left$/);
      await settled();
      assert.deepEqual(
        sent.map(({ questions }) => questions),
        [[{ credential: 'b', cost: 0 }]],
      );
      sent[0]?.answer();
      assert.equal((await staying).valid, true);
      // A caller that leaves is no failure of the service.
      assert.deepEqual(logged, []);
    },
  },
  {
    name: 'a call in flight ends with its signal, and with its own time limit',
    async check(library) {
      const { start, sent, timers } = held(library);
      const controller = new AbortController();
      const leaving = start('a', { signal: controller.signal });
      await settled();
      // oxlint-disable-next-line keyreeve/no-test-bounds -- the clock is the test's
      const short = start('b', { timeoutMs: 50 });
      await settled();
      controller.abort();
      assert.equal(((await rejection(leaving)) as Error).name, 'AbortError');
      assert.deepEqual(
        sent.map(({ isCancelled }) => isCancelled),
        [true, false],
      );
      timers.move(50);
      assert.match(String(await rejection(short)), /no result within 50 ms/);
      assert.equal(sent[1]?.isCancelled, true);
    },
  },
];

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await outcomeNow(promise);
  assert.equal(outcome.status, 'rejected');
  return outcome.status === 'rejected' && outcome.reason;
}
