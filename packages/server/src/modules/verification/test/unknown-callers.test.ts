/**
 * Without a valid caller, a verification only reads: the body states the client IP and the cost, so a client could otherwise
 * use up a stolen key that it may not use from its own IP address.
 */
import assert from 'node:assert/strict';
import { limits, type KeyDetails, type KeyUsage } from '@keyreeve/contract';
import { sumOfCounts } from '../../../foundation/latency-histogram.ts';
import { issueCredential } from '../../../../test-kit/canary-credentials.ts';
import { basic, bearer, operator } from '../../../../test-kit/new-app.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { fixture, form } from './limited-keys.ts';

type Fixture = Awaited<ReturnType<typeof fixture>>;
type Headers = Readonly<Record<string, string>>;

const inside = '203.0.113.7';
const limited = { quota: { limit: 100, per: 'month' } } as const;

/** What metrics show: verifications by result, and how many durations were measured for services. */
function counted({ app }: Fixture): number[] {
  const { counts, durations } = app.service.services.verifier;
  const { verify, verify_batch: batch, introspect } = durations.byEndpoint;
  const measured = sumOfCounts([verify, batch, introspect].map((histogram) => histogram.counts));
  return [...Object.values(counts), measured.reduce((sum, count) => sum + count, 0)];
}

/** What its owner can read of the use of a key. */
async function recorded({ app, owner }: Fixture, id: number): Promise<object> {
  await app.service.services.uses.flush();
  const get = async (path: string): Promise<unknown> => (await app.call('GET', path, { headers: owner })).json;
  const { lastUsedAt, lastUsedFrom, quotaUse } = (await get(`/auth/api-keys/${id}`)) as KeyDetails;
  const { usage } = (await get(`/auth/api-keys/${id}/usage?step=hour`)) as KeyUsage;
  const verifications = usage.reduce((sum, { accepted, refused }) => sum + accepted + refused, 0);
  return { lastUsedAt, lastUsedFrom, used: quotaUse?.used, verifications };
}

const unused = { lastUsedAt: null, lastUsedFrom: null, used: 0, verifications: 0 };

/** Sends every request that verifies the credential for a service. @returns their statuses */
async function verifyEverywhere({ app }: Fixture, headers: Headers, credential: string): Promise<number[]> {
  const question = { credential, address: inside, cost: 10 };
  const json = { 'content-type': 'application/json' };
  const requests: readonly [path: string, type: Headers, body: string][] = [
    ['/auth/verify', json, JSON.stringify(question)],
    // Too long for the read that returns the caller's key.
    ['/auth/verify', json, JSON.stringify(question) + ' '.repeat(limits.sharedReadBodyBytesMax)],
    ['/auth/verify/batch', json, JSON.stringify({ questions: [question, question] })],
    ['/auth/verify/batch', json, JSON.stringify({ credentials: [credential] })],
    ['/auth/introspect', form, `token=${credential}`],
  ];
  const statuses: number[] = [];
  for (const [path, type, body] of requests)
    statuses.push((await app.call('POST', path, { headers: { ...headers, ...type }, body })).status);
  return statuses;
}

testOnBoth('a request without a valid caller spends, records and counts nothing', async () => {
  await using at = await fixture();
  const stolen = await at.create('stolen', limited, { addresses: ['203.0.113.0/24'] });
  const open = await at.create('open', limited);
  const { apiKeys } = at.app.service.services;
  const create = (nickname: string, scopes: string[], addresses: string[] | null = null) =>
    apiKeys.create(operator, at.account.id, { nickname, scopes, addresses });
  const deleted = await create('deleted', ['keyreeve:verify']);
  await apiKeys.delete(operator, at.account.id, deleted.id);
  const elsewhere = await create('elsewhere', ['keyreeve:verify'], ['198.51.100.0/24']);
  const unscoped = await create('unscoped', []);
  const callers: Readonly<Record<string, readonly [Headers, status: number]>> = {
    'no caller': [{}, 401],
    'text in no format of a credential': [bearer('nobody'), 401],
    'a deleted key': [bearer(deleted.secret.reveal()), 401],
    'a key for another IP range': [bearer(elsewhere.secret.reveal()), 401],
    'a key without the scope': [bearer(unscoped.secret.reveal()), 403],
    'an access token': [bearer(at.accessToken), 401],
  };
  for (const [what, [headers, status]] of Object.entries(callers)) {
    const countsOf = async (credential: string): Promise<number[]> => {
      const before = counted(at);
      assert.deepEqual(
        await verifyEverywhere(at, headers, credential),
        Array.from({ length: 5 }, () => status),
        what,
      );
      return counted(at).map((count, index) => count - (before[index] ?? 0));
    };
    const ofCaller = await countsOf('malformed');
    assert.equal(ofCaller.at(-1), 0, `${what}: no duration is measured`);
    for (const credential of [stolen.key, open.key, at.accessToken])
      assert.deepEqual(await countsOf(credential), ofCaller, what);
  }
  for (const { id } of [stolen, open]) assert.deepEqual(await recorded(at, id), unused);
  assert.equal((await at.verify(stolen.key, { address: inside, cost: 100 })).valid, true, 'the quota is complete');
});

testOnBoth('a credential of a revocation check spends and records nothing of keys that it may not verify', async () => {
  await using at = await fixture();
  const { headers } = await issueCredential(at.app);
  const open = await at.create('open', limited);
  assert.deepEqual(await verifyEverywhere(at, headers, open.key), [200, 200, 200, 200, 200]);
  assert.deepEqual(await recorded(at, open.id), unused);
  const { counts } = at.app.service.services.verifier;
  const before = counts.access_token;
  assert.deepEqual(await verifyEverywhere(at, headers, at.accessToken), [200, 200, 200, 200, 200]);
  assert.equal(counts.access_token, before);
});

testOnBoth('a service key with the id of another one is not used, so no use of it is recorded', async () => {
  await using at = await fixture();
  const { apiKeys } = at.app.service.services;
  const service = await apiKeys.create(operator, at.account.id, { nickname: 'service', scopes: ['keyreeve:verify'] });
  const open = await at.create('open', limited);
  const introspect = async (id: number): Promise<number> => {
    const headers = { ...basic(String(id), service.secret.reveal()), ...form };
    return (await at.app.call('POST', '/auth/introspect', { headers, body: `token=${open.key}` })).status;
  };
  assert.equal(await introspect(service.id + 1), 401);
  assert.deepEqual(await recorded(at, service.id), { ...unused, used: undefined });
  assert.deepEqual(await recorded(at, open.id), unused);
  assert.equal(await introspect(service.id), 200);
});
