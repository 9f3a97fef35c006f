/** Rules about the content of batches and about the deadline, without a network. */
import assert from 'node:assert/strict';
import { nameOf, settled } from './held-transport.ts';
import { held, isUnavailable, many, outcomeNow, type Rule } from './rule.ts';

export const batchRules: readonly Rule[] = [
  {
    name: 'a question does not join a batch that has been sent, even one with an equal question',
    async check(library) {
      const { client, sent } = held(library);
      const first = client.verify('a', { cost: 0 });
      await settled();
      const second = client.verify('a', { cost: 0 });
      await settled();
      assert.deepEqual(
        sent.map(({ questions }) => questions),
        many(2, () => [{ credential: 'a', cost: 0 }]),
      );
      // The answer of the first batch is old: the key was deleted meanwhile.
      sent[0]?.answer();
      sent[1]?.answer([{ valid: false, code: 'not_found' }]);
      assert.deepEqual([(await first).valid, (await second).valid], [true, false]);
    },
  },
  {
    name: 'a question after an answer is asked again',
    async check(library) {
      const { client, sent } = held(library);
      for (let count = 1; count <= 3; count++) {
        const verified = client.verify('a', { cost: 0 });
        await settled();
        assert.equal(sent.length, count);
        sent.at(-1)?.answer();
        await verified;
      }
    },
  },
  {
    name: 'equal questions share an entry of an unsent batch, with equal options and cost 0 only',
    async check(library) {
      const { client, sent } = held(library);
      const options = [{ cost: 0 }, { cost: 0 }, { cost: 0, scopes: ['a'] }, {}, {}, { cost: 1 }, { cost: 1 }];
      const verified = options.map((option) => client.verify('a', option));
      await settled();
      const asked = [{ cost: 0 }, { scopes: ['a'], cost: 0 }, {}, {}, { cost: 1 }, { cost: 1 }];
      assert.deepEqual(
        sent.map(({ questions }) => questions),
        [asked.map((option) => ({ credential: 'a', ...option }))],
      );
      sent[0]?.answer();
      const results = await Promise.all(verified);
      assert.deepEqual(
        results,
        many(options.length, () => ({ valid: true, type: 'api_key', accountId: 'a' })),
      );
      // A caller that changes its result changes no other one.
      assert.equal(new Set(results).size, options.length);
    },
  },
  {
    name: 'questions with other environments get a batch of their own',
    async check(library) {
      const { start, sent } = held(library);
      const environments = [undefined, ['nowhere'], ['live', 'test'], undefined, ['live', 'test'], ['live']];
      const verified = environments.map((accepted, index) => start(`key ${index}`, { environments: accepted }));
      for (let answered = 0; answered < 4; answered++) {
        await settled();
        sent[answered]?.answer();
      }
      assert.deepEqual(
        sent.map(({ questions }) => questions.map(({ credential }) => credential)),
        [['key 0', 'key 3'], ['key 1'], ['key 2', 'key 4'], ['key 5']],
      );
      assert.equal((await Promise.all(verified)).length, environments.length);
    },
  },
  {
    name: 'after 3 s without a result a verification is unavailable, and a request without callers ends',
    async check(library) {
      const { start, timers, sent } = held(library);
      const first = start('a');
      await settled();
      timers.move(1_000);
      const second = start('b');
      const joined = start('c');
      await settled();
      timers.move(1_999);
      assert.equal((await outcomeNow(first)).status, 'pending');
      timers.move(1);
      const late = await outcomeNow(first);
      assert.ok(late.status === 'rejected' && isUnavailable(library)(late.reason), late.status);
      assert.match(String(late.reason), /no result within 3000 ms/);
      assert.deepEqual(
        sent.map(({ isCancelled }) => isCancelled),
        [true, false],
      );
      assert.equal((await outcomeNow(second)).status, 'pending');
      timers.move(1_000);
      for (const one of [second, joined]) assert.equal((await outcomeNow(one)).status, 'rejected');
      assert.deepEqual([sent.length, sent[1]?.isCancelled], [2, true]);
    },
  },
  {
    name: 'a question whose callers have left is not sent',
    async check(library) {
      const { start, timers, sent } = held(library);
      const verified = many(3, (index) => start(`key ${index}`));
      timers.move(3_000);
      for (const one of verified) assert.equal((await outcomeNow(one)).status, 'rejected');
      assert.equal(sent.length, 0);
    },
  },
  {
    name: 'an answer with another number of results than questions is no answer',
    async check(library) {
      for (const count of [1, 3]) {
        const { start, sent } = held(library);
        const verified = [start('a'), start('b')];
        await settled();
        sent[0]?.answer(many(count, (index) => nameOf({ credential: `${index}` })));
        for (const one of await Promise.allSettled(verified))
          assert.ok(one.status === 'rejected' && isUnavailable(library)(one.reason), one.status);
      }
    },
  },
  {
    name: 'at most two batches are in flight, with at most 256 questions; the results go to their questions',
    async check(library) {
      const { client, sent } = held(library);
      const names = many(1_000, (index) => `key ${index}`);
      const verified = Promise.all(names.map((name) => client.verify(name)));
      const lengths = async (): Promise<number[]> => {
        await settled();
        return sent.map(({ questions }) => questions.length);
      };
      assert.deepEqual(await lengths(), [256, 256]);
      sent[1]?.answer();
      assert.deepEqual(await lengths(), [256, 256, 256]);
      for (const index of [0, 2]) sent[index]?.answer();
      assert.deepEqual(await lengths(), [256, 256, 256, 232]);
      sent[3]?.answer();
      assert.deepEqual(
        (await verified).map((result) => result.valid && result.accountId),
        names,
      );
    },
  },
];
