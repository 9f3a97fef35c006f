/**
 * The short path is a strict subset of node:http: the same result, framing and bounds, for mutated requests that are split at
 * random places, and the same responses to services, for bodies and headers with every kind of fault. A run of a million requests: `SHORT_PATH_CONNECTIONS=110000 npm test -- short-path/differential.test`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createHttpServer } from '../../src/http/server.ts';
import { applyEdits } from '../revocation-check/mutant-run.ts';
import { issueCredential } from '../../test-kit/canary-credentials.ts';
import { basic, newApp, operator, type TestApp } from '../../test-kit/new-app.ts';
import { compare } from './differential.ts';
import { parserMutants } from './mutants.ts';
import { splitTraffics, traffics } from './traffic.ts';
import { compareExchanges } from './service-exchange.ts';
import type { Presented } from './service-requests.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

const connections = Number(process.env['SHORT_PATH_CONNECTIONS'] ?? 1_000);

const environments = {
  'one environment': { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' },
  'several environments, https and CORS': {
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
    KEYREEVE_PUBLIC_URL: 'https://keyreeve.example',
    KEYREEVE_CORS_ORIGINS: 'https://a.example',
    KEYREEVE_ENVIRONMENTS: 'live:krv,test:krt',
  },
};

interface CreatedByOperator {
  readonly id: number;
  readonly text: string;
}

test('both paths answer mutated requests, split at random places, with the same bytes', async (t) => {
  const { requests, short } = await compare(traffics(connections), createHttpServer);
  t.diagnostic(`${requests} requests, ${short} of them answered by the short path`);
  assert.ok(short > requests / 5);
});

test('both paths answer a request with a body that is split at any byte with the same bytes', async () => {
  const { requests, short } = await compare(splitTraffics(), createHttpServer);
  // At least those that are split in their bodies, with the request behind them.
  assert.ok(short > 2 * 20 && short < requests);
});

for (const [what, environment] of Object.entries(environments)) {
  test(`both paths answer requests of services with the same bytes: ${what}`, async (t) => {
    await using app = await newApp({ environment });
    const seeds = Array.from({ length: connections / 2 }, (_, index) => index + 1);
    const { requests, short } = await compareExchanges(app.url, await newPresented(app), seeds);
    t.diagnostic(`${requests} requests, ${short} of them answered by the short path`);
    assert.ok(short > requests / 5);
  });
}

/** Credentials of every kind and state. */
async function newPresented(app: TestApp): Promise<Presented> {
  const { account, accessToken, refreshToken } = await app.signIn();
  const { apiKeys, keyChanges } = app.service.services;
  const create = async (nickname: string, more: object = {}, change?: object): Promise<CreatedByOperator> => {
    const { id, secret } = await apiKeys.create(operator, account.id, { nickname, scopes: ['a'], ...more });
    if (change) await keyChanges.change(operator, account.id, id, change);
    return { id, text: secret.reveal() };
  };
  const [service, inside] = [
    await create('service', { scopes: ['keyreeve:verify'] }),
    await create('inside', { scopes: ['keyreeve:verify'], addresses: ['203.0.113.0/24'] }),
  ];
  const [worker, gone] = [await create('naïve 🦊', { metadata: { a: 'ä' } }), await create('gone')];
  await apiKeys.delete(operator, account.id, gone.id);
  const canary = await issueCredential(app);
  const others = [
    await create('ranges', { addresses: ['203.0.113.0/24'] }),
    await create('disabled', {}, { disabled: true }),
    await create('expiring', { expiresAt: app.clock.now() + 3_600_000 }),
    await create('limited', { limits: { quota: { limit: 1_000_000, per: 'day' } } }),
    await create('exhausted', { limits: { quota: { limit: 0, per: 'day' } } }),
    ...(app.service.services.verifier.environments.names.length > 0
      ? [await create('test', { environment: 'test' })]
      : []),
  ];
  const bearerOf = (text: string): string => `Authorization: Bearer ${text}`;
  const basicOf = (user: string, text: string): string => `authorization: ${basic(user, text).authorization}`;
  return {
    callers: [
      bearerOf(service.text),
      `X-API-Key: ${service.text}`,
      basicOf(String(service.id), service.text),
      basicOf(String(worker.id), service.text),
      bearerOf(inside.text),
      `${bearerOf(inside.text)}\r\nX-Forwarded-For: 203.0.113.7`,
      bearerOf(canary.secret),
      bearerOf(worker.text),
      bearerOf(gone.text),
      bearerOf(accessToken),
      bearerOf('a'),
      'Authorization: ',
      '',
      `${bearerOf(service.text)}\r\nX-API-Key: ${service.text}`,
    ],
    credentials: [worker, gone, service, ...others]
      .map(({ text }) => text)
      .concat(accessToken, refreshToken, canary.secret, `${worker.text}x`, 'a', 'ä', 'a/b', '', 'x'.repeat(900)),
  };
}

// The comparison of each with node:http: mutants.extended.test.ts.
test('each mistake in mutants.ts fits the source', () => {
  for (const { name, edits } of parserMutants) {
    const edited = applyEdits(edits, (path) => readFileSync(join(source, path), 'utf8'));
    assert.ok(edited.size > 0, name);
  }
});
