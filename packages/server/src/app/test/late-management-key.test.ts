/** A body may arrive seconds after its headers: the management key must still be valid when the change commits. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ErrorCode } from '@keyreeve/contract';
import { countBodies } from '../../../test-kit/begun-bodies.ts';
import { testOnBoth } from '../../../test-kit/app-on-each-database.ts';
import { newApp, operator, type TestApp } from '../../../test-kit/new-app.ts';
import { newBackend, removeManagers, type Backend } from '../../../test-kit/service-accounts.ts';
import { until } from '../../../test-kit/until.ts';

const body = '{"nickname":"late"}';
/** PostgreSQL compares with its own clock, which is not that of the test. */
const farSeconds = 10 ** 9;

/** Sends the headers and half of the body, runs `meanwhile` after the key has been verified, then sends the rest. */
async function createSlowly(app: TestApp, backend: Backend, meanwhile: () => Promise<unknown>): Promise<string> {
  const headers = { ...backend.headers, 'content-type': 'application/json', 'content-length': body.length };
  using bodies = countBodies();
  const sent = request(new URL(`${backend.path}/api-keys`, app.url), { method: 'POST', headers });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(body.slice(0, 10));
  await until('the key is verified', () => bodies.begun === 1);
  await meanwhile();
  sent.end(body.slice(10));
  const [response] = await answered;
  const { code = 'created' } = JSON.parse(await text(response)) as { code?: string };
  return code;
}

type Change = (app: TestApp, backend: Backend) => Promise<unknown>;

const change =
  (what: object): Change =>
  (app, { accountId, keyId }) =>
    app.service.services.keyChanges.change(operator, accountId, keyId, what);
const rotate =
  (overlapSeconds: number): Change =>
  (app, { accountId, keyId }) =>
    app.service.services.keyChanges.rotate(operator, accountId, keyId, { overlapSeconds, endPrevious: false });

const endings: readonly (readonly [what: string, code: ErrorCode | 'created', end: Change])[] = [
  [
    'deletion of the key',
    'invalid_management_key',
    (app, { accountId, keyId }) => app.service.services.apiKeys.delete(operator, accountId, keyId),
  ],
  ['disabling of the key', 'invalid_management_key', change({ disabled: true })],
  ['removal of the scope', 'invalid_management_key', change({ scopes: [] })],
  ['change of the IP ranges', 'invalid_management_key', change({ addresses: ['192.0.2.1'] })],
  ['rotation without an overlap', 'invalid_management_key', rotate(0)],
  [
    'disabling of its account',
    'invalid_management_key',
    (app, { accountId }) => app.service.services.accounts.disable(operator, accountId),
  ],
  [
    'deletion of its account',
    'account_not_found',
    (app, { accountId }) => app.service.services.accounts.delete(operator, accountId),
  ],
  ['removal of the manager', 'account_not_found', (app, { serviceId }) => removeManagers(app.db, serviceId)],
  [
    'deletion of the service account',
    'account_not_found',
    (app, { serviceId }) => app.service.services.accounts.delete(operator, serviceId),
  ],
  ['rotation with an overlap', 'created', rotate(farSeconds)],
  ['new nickname of the key', 'created', change({ nickname: 'renamed' })],
];

testOnBoth('a management key that ends during a request changes nothing', async () => {
  await using app = await newApp();
  for (const [what, code, end] of endings) {
    const backend = await newBackend(app);
    assert.equal(await createSlowly(app, backend, () => end(app, backend)), code, what);
    const created = await app.service.services.apiKeys.list(backend.serviceId);
    assert.equal(created.length, code === 'created' ? 1 : 0, what);
  }
});

testOnBoth('a management key that expires during a request changes nothing', async () => {
  await using app = await newApp();
  const backend = await newBackend(app, { expiresAt: app.clock.now() + 5_000 });
  const expire = async (): Promise<void> => app.clock.advance({ seconds: 5 });
  assert.equal(await createSlowly(app, backend, expire), 'invalid_management_key');
});
