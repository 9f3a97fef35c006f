/** Reports of GitHub with keys from a key server: configuration, address guard, request and signature together. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { readConfig } from '../configuration/config.ts';
import { newGithubReports } from '../wiring/github-reports.ts';
import type { GithubReports } from '../../modules/leaks/github-reports.ts';
import { makeKey } from '../../modules/api-keys/key-format.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { GithubSigner, listOf } from '../../../test-kit/github.ts';
import { bearer, newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { newReceiver, type Receiver } from '../../../test-kit/webhook-receiver.ts';

const github = new GithubSigner();

/** @param targets the internal targets that the operator allows */
function reportsOf({ service }: TestApp, server: Receiver, targets: string): GithubReports {
  const environment = { KEYREEVE_GITHUB_SCANNING: 'on', KEYREEVE_WEBHOOK_TARGETS: targets };
  const reports = newGithubReports(readConfig(environment), service.services.leaks, undefined, server.url);
  assert.ok(reports);
  return reports;
}

function report(reports: GithubReports, token: string): Promise<unknown> {
  const body = JSON.stringify([{ token, type: 'a' }]);
  return reports.report(Buffer.from(body), { keyId: github.keyId, signature: github.signatureOf(body) });
}

async function newKeyServer(body: string, status = 200): Promise<Receiver> {
  const server = await newReceiver();
  server.answer = (_, response) => void response.writeHead(status).end(body);
  return server;
}

test('a report ends a key, with the public key that the key server has', async () => {
  await using app = await newApp();
  await using server = await newKeyServer(listOf(github));
  const { accessToken } = await app.signIn();
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'ci' } });
  const { key } = created.json as { key: string };
  const reports = reportsOf(app, server, `127.0.0.1:${server.port}`);
  await report(reports, key);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);
  await report(reports, key);
  assert.deepEqual(
    server.received.map(({ method, path, body }) => [method, path, body]),
    [['GET', '/hooks', '']],
  );
});

test('the address guard applies: an internal key server that is not allowed gets no request', async () => {
  await using app = await newApp();
  await using server = await newKeyServer(listOf(github));
  for (const targets of ['', `127.0.0.1:${server.port === 1 ? 2 : 1}`])
    await assert.rejects(report(reportsOf(app, server, targets), makeKey('krv').reveal()), { code: 'unavailable' });
  assert.deepEqual(server.received, []);
});

test('a key server with an error, no list or a large response makes reports unavailable', async () => {
  await using app = await newApp();
  for (const [name, body, status] of [
    ['an error', listOf(github), 500],
    ['a redirect', listOf(github), 302],
    ['no list', '{}', 200],
    ['a large response', listOf(github).padEnd(limits.githubKeysBytesMax + 1), 200],
  ] as const) {
    await using server = await newKeyServer(body, status);
    const reports = reportsOf(app, server, `127.0.0.1:${server.port}`);
    await assert.rejects(report(reports, makeKey('krv').reveal()), { code: 'unavailable' }, name);
    assert.equal(server.received.length, 1, name);
  }
});
