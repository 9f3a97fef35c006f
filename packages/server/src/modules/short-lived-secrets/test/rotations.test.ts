/** Rotations of a public key at once, and what its clients get for their assertions. */
import assert from 'node:assert/strict';
import type { KeyDetails } from '@keyreeve/contract';
import { problemCode } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { bearer, newApp, type Answered } from '../../../../test-kit/new-app.ts';
import {
  exchange,
  newAssertion,
  newKeyPair,
  newPublicKeyKey,
  newShortLived,
  type KeyPair,
} from '../../../../test-kit/public-key-client.ts';
import { rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

async function fixture() {
  const app = await newApp();
  const { accessToken } = await app.signIn();
  const first = newKeyPair();
  const keyId = await newPublicKeyKey(app, accessToken, first);
  const path = `/auth/api-keys/${keyId}`;
  const headers = bearer(accessToken);
  const rotate = ({ publicKey }: KeyPair, more: object): Promise<Answered> =>
    whenAvailable(() => app.call('POST', `${path}/rotate`, { headers, json: { publicKey, ...more } }));
  const details = async (): Promise<KeyDetails> => (await app.call('GET', path, { headers })).json as KeyDetails;
  const exchangedBy = async (pair: KeyPair): Promise<number> =>
    (await exchange(app, newAssertion(app, pair, keyId))).status;
  const statusOf = async (secret: string): Promise<number> =>
    (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status;
  const dispose = { [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  return { app, first, keyId, rotate, details, exchangedBy, statusOf, ...dispose };
}

testOnBoth('of several rotations at once, one replaces the public key, and the others find its overlap', async () => {
  await using at = await fixture();
  const secret = await newShortLived(at.app, at.first, at.keyId);
  const pairs = Array.from({ length: rivalsMin }, () => newKeyPair());
  const answers = await Promise.all(pairs.map((pair) => at.rotate(pair, { overlapSeconds: 60 })));
  const winner = answers.findIndex(({ status }) => status === 200);
  for (const [index, answer] of answers.entries())
    if (index !== winner) assert.equal(problemCode(answer), 'overlap_in_progress');
  assert.deepEqual((await at.details()).publicKey, pairs[winner]?.publicKey);
  for (const [index, pair] of pairs.entries())
    assert.equal(await at.exchangedBy(pair), index === winner ? 200 : 400, String(index));
  assert.equal(await at.exchangedBy(at.first), 200);
  assert.equal(await at.statusOf(secret), 200);
  at.app.clock.advance({ seconds: 60 });
  assert.equal(await at.exchangedBy(at.first), 400);
  assert.equal(await at.statusOf(secret), 401);
});

testOnBoth('of several rotations at once without an overlap, only the last public key issues secrets', async () => {
  await using at = await fixture();
  const secret = await newShortLived(at.app, at.first, at.keyId);
  const pairs = Array.from({ length: rivalsMin }, () => newKeyPair());
  const answers = await Promise.all(pairs.map((pair) => at.rotate(pair, { overlapSeconds: 0 })));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const { publicKey, previous } = await at.details();
  assert.equal(previous, null);
  const last = pairs.filter((pair) => pair.publicKey['x'] === publicKey?.x);
  assert.equal(last.length, 1);
  for (const pair of [at.first, ...pairs]) assert.equal(await at.exchangedBy(pair), pair === last[0] ? 200 : 400);
  assert.equal(await at.statusOf(secret), 401);
});

testOnBoth('of several rotations at once to the same public key, one succeeds', async () => {
  await using at = await fixture();
  const next = newKeyPair('ES256');
  const answers = await Promise.all(Array.from({ length: rivalsMin }, () => at.rotate(next, { endPrevious: true })));
  const rejected = answers.filter(({ status }) => status !== 200);
  assert.equal(rejected.length, rivalsMin - 1);
  for (const answer of rejected) assert.equal(problemCode(answer), 'invalid_request');
  assert.equal(await at.exchangedBy(at.first), 200, 'its overlap is that of the one rotation');
  assert.equal(await at.exchangedBy(next), 200);
});
