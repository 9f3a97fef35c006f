/** The public keys of GitHub: their list, and how often they are fetched. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../../foundation/errors.ts';
import { listOf, publishedVector } from '../../../../test-kit/github.ts';
import { FetchedKeys, fixedKeys, parsePublicKeys } from '../github-keys.ts';
import { GithubReports } from '../github-reports.ts';

const { keyId, body, signature } = publishedVector;
const otherId = '0'.repeat(64);

/** Keys that are fetched from a list, which a test replaces, with a clock that it advances. */
class Fetched {
  list: string | Error | Promise<string> = listOf(publishedVector);
  fetches = 0;
  failures = 0;
  nowMs = 1_000;
  readonly keys = new FetchedKeys({
    fetch: async () => {
      this.fetches++;
      if (this.list instanceof Error) throw this.list;
      return Buffer.from(await this.list);
    },
    onFailure: () => void this.failures++,
    now: () => this.nowMs,
  });
  /** Its reports contain no keys. */
  readonly reports = new GithubReports({
    leaks: { hasFormat: () => false, report: () => Promise.resolve([]) },
    keys: this.keys,
  });

  report(id: string | undefined = keyId, text: string = body): Promise<unknown> {
    return this.reports.report(Buffer.from(text), { keyId: id, signature });
  }
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

const isUnavailable = (seconds: number) => (error: unknown) =>
  error instanceof DomainError && error.code === 'unavailable' && error.options.retryAfterSeconds === seconds;

test('the published vector verifies with a fetched key, and keys are fetched once', async () => {
  const fetched = new Fetched();
  for (let round = 0; round < 3; round++) await fetched.report();
  await assert.rejects(fetched.report(keyId, `${body} `), { code: 'invalid_signature' });
  assert.equal(fetched.fetches, 1);
});

test('an unknown key is looked up once a minute, for all requests together', async () => {
  const fetched = new Fetched();
  for (let round = 0; round < 3; round++) {
    const found = await Promise.all([fetched.keys.find(otherId), fetched.keys.find(otherId)]);
    assert.deepEqual(found, [undefined, undefined]);
  }
  assert.equal(fetched.fetches, 1);
  fetched.nowMs += 59_999;
  assert.equal(await fetched.keys.find(otherId), undefined);
  assert.equal(fetched.fetches, 1);
  fetched.list = listOf({ ...publishedVector, keyId: otherId });
  fetched.nowMs += 1;
  assert.ok(await fetched.keys.find(otherId));
  assert.equal(fetched.fetches, 2);
  assert.equal(await fetched.keys.find(keyId), undefined, 'GitHub has withdrawn the first key');
});

test('while the keys cannot be fetched, known keys are accepted and unknown ones are unavailable', async () => {
  const fetched = new Fetched();
  fetched.list = new Error('no route');
  await assert.rejects(fetched.keys.find(keyId), isUnavailable(60));
  fetched.nowMs += 30_000;
  await assert.rejects(fetched.keys.find(keyId), isUnavailable(30));
  assert.deepEqual([fetched.fetches, fetched.failures], [1, 1]);
  fetched.nowMs += 30_000;
  fetched.list = listOf(publishedVector);
  assert.ok(await fetched.keys.find(keyId));
  fetched.nowMs += 60_000;
  fetched.list = '{}';
  await assert.rejects(fetched.keys.find(otherId), isUnavailable(60));
  assert.ok(await fetched.keys.find(keyId));
  assert.deepEqual([fetched.fetches, fetched.failures], [3, 2]);
});

test('while keys are fetched, two reports with unknown keys wait, and reports with known keys are accepted', async () => {
  const fetched = new Fetched();
  await fetched.report();
  fetched.nowMs += minuteMs;
  const { promise, resolve } = Promise.withResolvers<string>();
  fetched.list = promise;
  const waiting = [fetched.report(otherId), fetched.report(otherId)].map((sent) =>
    assert.rejects(sent, { code: 'invalid_signature' }),
  );
  for (let more = 0; more < limits.githubReportsInProgressMax; more++)
    await assert.rejects(fetched.report(otherId), isUnavailable(10));
  await fetched.report();
  resolve(listOf(publishedVector));
  await Promise.all(waiting);
  // The fetch has ended, so reports with unknown keys do not wait.
  for (let more = 0; more < 3; more++) await assert.rejects(fetched.report(otherId), { code: 'invalid_signature' });
  assert.equal(fetched.fetches, 2);
});

test('keys older than a day are fetched again in the background, and a withdrawn key is then unknown', async () => {
  const fetched = new Fetched();
  await fetched.report();
  fetched.nowMs += dayMs - 1;
  await fetched.report();
  assert.equal(fetched.fetches, 1);
  const { promise, resolve } = Promise.withResolvers<string>();
  fetched.list = promise;
  fetched.nowMs += 1;
  for (let round = 0; round < 3; round++) await fetched.report();
  assert.equal(fetched.fetches, 2);
  resolve(listOf({ ...publishedVector, keyId: otherId }));
  await fetched.report(otherId);
  await assert.rejects(fetched.report(), { code: 'invalid_signature' });
});

test('if keys older than a day cannot be fetched, they stay, and are fetched again after a minute', async () => {
  const fetched = new Fetched();
  await fetched.report();
  fetched.nowMs += dayMs;
  fetched.list = new Error('no route');
  for (let round = 0; round < 3; round++) await fetched.report();
  assert.deepEqual([fetched.fetches, fetched.failures], [2, 1]);
  fetched.nowMs += minuteMs;
  fetched.list = listOf({ ...publishedVector, keyId: otherId });
  await fetched.report();
  await fetched.report(otherId);
  assert.deepEqual([fetched.fetches, fetched.failures], [3, 1]);
  await assert.rejects(fetched.report(), { code: 'invalid_signature' });
});

test('keys from a file do not change', async () => {
  const keys = fixedKeys(parsePublicKeys(Buffer.from(listOf(publishedVector))));
  assert.ok(await keys.find(keyId));
  assert.equal(await keys.find(otherId), undefined);
});

test('a malformed key id causes no fetch', async () => {
  const fetched = new Fetched();
  for (const id of [undefined, '', 'x', `${keyId}0`, keyId.toUpperCase()])
    await assert.rejects(fetched.reports.report(Buffer.from(body), { keyId: id, signature }), {
      code: 'invalid_signature',
    });
  assert.equal(fetched.fetches, 0);
});

test('only EC P-256 keys of the list are accepted, and a list without one is an error', () => {
  const pem = (type: 'ec' | 'ed25519' | 'p384'): string => {
    const { publicKey } =
      type === 'ed25519'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: type === 'ec' ? 'P-256' : 'P-384' });
    return publicKey.export({ type: 'spki', format: 'pem' });
  };
  const list = listOf(
    { keyId: 'a', publicKey: pem('ec') },
    { keyId: 'b', publicKey: pem('ed25519') },
    { keyId: 'c', publicKey: pem('p384') },
    { keyId: 'd', publicKey: 'no key' },
  );
  assert.deepEqual([...parsePublicKeys(Buffer.from(list)).keys()], ['a']);
  for (const [text, message] of [
    ['', 'is not JSON'],
    ['null', 'has no array public_keys'],
    ['[]', 'has no array public_keys'],
    ['{"public_keys":{}}', 'has no array public_keys'],
    ['{"public_keys":[]}', 'has no public key of the type EC P-256'],
    ['{"public_keys":[null,1,{"key":"x"}]}', 'has no public key of the type EC P-256'],
    [listOf({ keyId: 'b', publicKey: pem('ed25519') }), 'has no public key of the type EC P-256'],
  ] as const)
    assert.throws(() => parsePublicKeys(Buffer.from(text)), { message }, text);
});
