/** A body may arrive seconds after its headers: the access token must still be valid when the change commits. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Secret } from '../../foundation/crypto/secret.ts';
import { countBodies } from '../../../test-kit/begun-bodies.ts';
import { listAuditEvents } from '../../../test-kit/audit-log.ts';
import { bearer, newApp, operator, type SignedIn, type TestApp } from '../../../test-kit/new-app.ts';
import { testOnBoth } from '../../../test-kit/app-on-each-database.ts';
import { until } from '../../../test-kit/until.ts';

const body = '{"nickname":"late"}';

/** Sends the headers and half of the body, runs `meanwhile` after the token has been verified, then sends the rest. */
async function createSlowly(
  app: TestApp,
  { accessToken }: SignedIn,
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number | undefined; json: unknown }> {
  const headers = { ...bearer(accessToken), 'content-type': 'application/json', 'content-length': body.length };
  using bodies = countBodies();
  const sent = request(new URL('/auth/api-keys', app.url), { method: 'POST', headers });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(body.slice(0, 10));
  await until('the token is verified', () => bodies.begun === 1);
  await meanwhile();
  sent.end(body.slice(10));
  const [response] = await answered;
  return { status: response.statusCode, json: JSON.parse(await text(response)) as unknown };
}

const endings: Readonly<Record<string, (app: TestApp, signedIn: SignedIn) => Promise<unknown>>> = {
  'a sign-out': (app, { refreshToken }) => app.call('POST', '/auth/token/revoke', { json: { refreshToken } }),
  'a new password': (app, { account }) =>
    app.service.services.accounts.setPassword(operator, account.id, new Secret('another wombat in orbit')),
  'a disabled account': (app, { account }) => app.service.services.accounts.disable(operator, account.id),
  'a deleted account': (app, { account }) => app.service.services.accounts.delete(operator, account.id),
  'an immediate rotation of the signing key': (app) =>
    app.service.services.signingKeys.rotate(operator, { immediately: true }),
  'the expiry of the session': async (app) => app.clock.advance({ days: 14 }),
};

for (const [what, end] of Object.entries(endings)) {
  testOnBoth(`a request creates no key after ${what} during its body`, async () => {
    await using app = await newApp();
    const signedIn = await app.signIn();
    const { status, json } = await createSlowly(app, signedIn, () => end(app, signedIn));
    assert.equal(status, 401);
    assert.equal((json as { code: string }).code, 'invalid_access_token');
    assert.deepEqual(await app.service.services.apiKeys.list(signedIn.account.id), []);
    const actions = (await listAuditEvents(app.db)).map(({ action }) => action);
    assert.ok(!actions.includes('api_key.created'));
  });
}

testOnBoth('a request whose body arrives late creates its key if the session continues', async () => {
  await using app = await newApp();
  const signedIn = await app.signIn();
  const { account, refreshToken } = signedIn;
  const { status } = await createSlowly(app, signedIn, () =>
    app.call('POST', '/auth/token/refresh', { json: { refreshToken } }),
  );
  assert.equal(status, 201);
  const keys = await app.service.services.apiKeys.list(account.id);
  assert.deepEqual(
    keys.map(({ nickname }) => nickname),
    ['late'],
  );
});
