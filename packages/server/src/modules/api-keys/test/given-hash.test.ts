/** Keys with a given hash: the secret of another system stays valid. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { limits, type CreatedServiceAccountKey, type KeyDetails, type RotatedKey } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { newBackend, type Backend } from '../../../../test-kit/service-accounts.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const verify = (app: TestApp, key: string): Promise<Answered> =>
  app.call('GET', '/auth/forward', { headers: { 'x-api-key': key } });
const create = (app: TestApp, { headers, path }: Pick<Backend, 'headers' | 'path'>, json: object): Promise<Answered> =>
  app.call('POST', `${path}/api-keys`, { headers, json });

test('a key with a given hash accepts its secret at once, and the response contains none', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const secret = 'sk_other-system_4f2c9a';
  assert.equal((await verify(app, secret)).status, 401);
  const answer = await create(app, backend, { nickname: 'kept', scopes: ['orders:read'], sha256: hashOf(secret) });
  assert.equal(answer.status, 201, answer.text);
  const { id, ...others } = answer.json as CreatedServiceAccountKey;
  const at = new Date(app.clock.now()).toISOString();
  assert.deepEqual(others, { nickname: 'kept', createdAt: at, updatedAt: at });
  assert.equal(answer.headers.get('location'), `${backend.path}/api-keys/${id}`);
  const verified = await verify(app, secret);
  assert.equal(verified.status, 200);
  assert.equal(verified.headers.get('x-keyreeve-account'), backend.serviceId);
  assert.equal(verified.headers.get('x-keyreeve-key-id'), String(id));

  await using other = await newApp({ place: app.place });
  assert.equal((await verify(other, secret)).status, 200, 'another instance');

  const path = `${backend.path}/api-keys/${id}`;
  const details = (await app.call('GET', path, { headers: backend.headers })).json as KeyDetails;
  assert.equal(details.hint, null);
  const rotated = (await app.call('POST', `${path}/rotate`, { headers: backend.headers })).json as RotatedKey;
  assert.match(rotated.key, /^krv_/);
  assert.deepEqual([(await verify(app, secret)).status, (await verify(app, rotated.key)).status], [200, 200]);
  await app.call('DELETE', path, { headers: backend.headers });
  assert.deepEqual([(await verify(app, secret)).status, (await verify(app, rotated.key)).status], [401, 401]);
});

test('an instance that has found no imported keys accepts the first one after two seconds', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  await using other = await newApp({ place: app.place, clock: app.clock });
  assert.equal((await verify(other, 'sk_first-key')).status, 401);
  await create(app, backend, { nickname: 'first', sha256: hashOf('sk_first-key') });
  assert.equal((await verify(app, 'sk_first-key')).status, 200);
  app.clock.advance({ seconds: limits.importedKeysLookSeconds });
  assert.equal((await verify(other, 'sk_first-key')).status, 200);
});

test('a secret belongs to one key: a hash that a key has, had, or was deleted with is taken', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const { apiKeys, keyChanges } = app.service.services;
  const own = await apiKeys.create(operator, backend.serviceId, { nickname: 'own' });
  const elsewhere = await apiKeys.create(operator, backend.accountId, { nickname: 'elsewhere' });
  const rotated = await apiKeys.create(operator, backend.serviceId, { nickname: 'rotated' });
  await keyChanges.rotate(operator, backend.serviceId, rotated.id, { overlapSeconds: 60, endPrevious: false });
  const given = await create(app, backend, { nickname: 'given', sha256: hashOf('sk_given') });
  const { id } = given.json as CreatedServiceAccountKey;
  await keyChanges.rotate(operator, backend.serviceId, id, { overlapSeconds: 0, endPrevious: false });
  const removed = await create(app, backend, { nickname: 'removed', sha256: hashOf('sk_removed') });
  await apiKeys.delete(operator, backend.serviceId, (removed.json as CreatedServiceAccountKey).id);
  const sibling = `/auth/service-accounts/${await addServiceAccount(app.db, [backend.accountId])}`;
  const removedThere = await create(app, { ...backend, path: sibling }, { nickname: 'a', sha256: hashOf('sk_there') });
  const leaked = await apiKeys.create(operator, backend.accountId, { nickname: 'leaked' });
  const leakedPrevious = await apiKeys.create(operator, backend.accountId, { nickname: 'leaked previous' });
  await keyChanges.rotate(operator, backend.accountId, leakedPrevious.id, { overlapSeconds: 60, endPrevious: false });
  const ended = [leaked, leakedPrevious].map(({ secret }) => ({ text: secret.reveal() }));
  assert.deepEqual(await app.service.services.leaks.report(operator, ended), ['current', 'previous']);
  await apiKeys.delete(operator, backend.accountId, leaked.id);
  const { id: idThere } = removedThere.json as CreatedServiceAccountKey;
  assert.equal((await app.call('DELETE', `${sibling}/api-keys/${idThere}`, { headers: backend.headers })).status, 200);
  const events = await listAuditEvents(app.db);
  const taken: Readonly<Record<string, string>> = {
    'a current secret': own.secret.reveal(),
    'a current secret of another account': elsewhere.secret.reveal(),
    'the management key': backend.key,
    'a previous secret': rotated.secret.reveal(),
    'a given one that was replaced': 'sk_given',
    'one that leaked before its key was deleted': leaked.secret.reveal(),
    'a previous one that leaked': leakedPrevious.secret.reveal(),
    'one whose key was deleted': 'sk_removed',
    'one whose key was deleted in another account': 'sk_there',
  };
  for (const [what, secret] of Object.entries(taken)) {
    const answer = await create(app, backend, { nickname: 'new', sha256: hashOf(secret) });
    assertRejected(answer, 'secret_taken', what);
    assert.ok(!answer.text.includes('acc_'), what);
  }
  assertRejected(await create(app, backend, { nickname: 'own', sha256: hashOf('sk_new') }), 'nickname_taken');
  assert.deepEqual(await listAuditEvents(app.db), events);
  for (const secret of ['sk_removed', 'sk_there']) assert.equal((await verify(app, secret)).status, 401);
});

testOnBoth('of concurrent creations with one hash, exactly one succeeds', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const paths = [backend.path, `/auth/service-accounts/${await addServiceAccount(app.db, [backend.accountId])}`];
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, rival) =>
      whenAvailable(() =>
        create(
          app,
          { ...backend, path: paths[rival % 2] ?? '' },
          { nickname: `key ${rival}`, sha256: hashOf('sk_one') },
        ),
      ),
    ),
  );
  const codes = answers.map(({ status, json }) => (status === 201 ? 'created' : (json as { code: string }).code));
  assert.deepEqual(codes.toSorted(), ['created', ...Array.from({ length: 15 }, () => 'secret_taken')]);
});

test('only a management key or an operator sets the hash of a key', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const headers = bearer(user.accessToken);
  const path = `/auth/service-accounts/${await addServiceAccount(app.db, [user.account.id])}`;
  const sha256 = hashOf('sk_person');
  assertRejected(await create(app, { headers, path }, { nickname: 'a', sha256 }), 'management_key_required');
  const own = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a', sha256 } });
  assert.deepEqual(assertRejected(own, 'invalid_request'), ['/sha256']);
  assert.equal((await verify(app, 'sk_person')).status, 401);
  const { apiKeys } = app.service.services;
  await apiKeys.createWithHash(operator, user.account.id, { nickname: 'a' }, sha256);
  assert.equal((await verify(app, 'sk_person')).headers.get('x-keyreeve-account'), user.account.id);
  const { details } = (await listAuditEvents(app.db)).findLast(({ action }) => action === 'api_key.created') ?? {};
  assert.deepEqual(JSON.parse(details ?? ''), { nickname: 'a', scopes: [], given: true });
});

test('a hash that is not a SHA-256 in lower case is rejected, and so are reserved scopes', async () => {
  await using app = await newApp();
  const backend = await newBackend(app);
  const sha256 = hashOf('sk_bad');
  for (const bad of [
    sha256.toUpperCase(),
    sha256.slice(1),
    `${sha256}0`,
    `${sha256.slice(1)}g`,
    '',
    hashOf(''),
    `${sha256}\n`,
    1,
    null,
  ])
    assert.deepEqual(
      assertRejected(await create(app, backend, { nickname: 'a', sha256: bad }), 'invalid_request', String(bad)),
      ['/sha256'],
    );
  const { apiKeys } = app.service.services;
  const request = { nickname: 'a', scopes: ['keyreeve:verify'] };
  await assert.rejects(apiKeys.createWithHash(operator, backend.serviceId, request, sha256), {
    code: 'reserved_scope',
  });
  assert.equal((await verify(app, 'sk_bad')).status, 401);
});
