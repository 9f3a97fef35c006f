/** `POST /admin/api-keys/find`: the API key that a secret belongs to. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { limits, type FoundKey } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newKeyClient } from '../../../../test-kit/key-client.ts';
import { operator, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { newKeyPair, newPublicKeyKey, newShortLived } from '../../../../test-kit/public-key-client.ts';
import { makeKey } from '../../api-keys/key-format.ts';

const find = (app: TestApp, administrator: SignedIn, key: unknown): Promise<Answered> =>
  administer(app, administrator, 'POST', 'api-keys/find', { key });

const identified = async (app: TestApp) =>
  (await listAuditEvents(app.db)).filter(({ action }) => action === 'api_key.identified');

/** Neither the log nor the audit log has the text or its second half. */
async function assertNotKept(app: TestApp, text: string): Promise<void> {
  const kept = app.logLines.join('') + JSON.stringify(await listAuditEvents(app.db));
  assert.ok(!kept.includes(text.slice(-Math.ceil(text.length / 2))), 'the secret is in no log');
}

test('an administrator finds the key of a secret, which is kept in no log', async () => {
  await using client = await newKeyClient({ environment: { KEYREEVE_LEAK_REPORTS: 'on' } });
  const { app, user, key: first, id } = client;
  const administrator = await newAdministrator(app);
  const { apiKeys, leaks } = app.service.services;
  const imported = 'legacy hunter2 of another system';
  const sha256 = createHash('sha256').update(imported).digest('hex');
  const given = await apiKeys.createWithHash(operator, user.account.id, { nickname: 'legacy' }, sha256);
  const pair = newKeyPair();
  const publicId = await newPublicKeyKey(app, user.accessToken, pair, { nickname: 'public' });
  const shortLived = await newShortLived(app, pair, publicId);
  const { key: second } = await client.rotate();
  const { key: third, id: otherId } = (
    await app.call('POST', '/auth/api-keys', {
      headers: { authorization: `Bearer ${user.accessToken}` },
      json: { nickname: 'other' },
    })
  ).json as { key: string; id: number };
  await leaks.report(operator, [{ text: third }]);
  const expected = [
    [second, id, 'worker', 'current'],
    [first, id, 'worker', 'previous'],
    [imported, given.id, 'legacy', 'current'],
    [shortLived, publicId, 'public', 'short_lived'],
    [third, otherId, 'other', 'leaked'],
  ] as const;
  for (const [text, keyId, nickname, secret] of expected) {
    const answer = await find(app, administrator, text);
    assert.equal(answer.status, 200, answer.text);
    const listed = await administer(app, administrator, 'GET', `api-keys?id=${keyId}`);
    const [key] = (listed.json as { apiKeys: object[] }).apiKeys;
    assert.deepEqual(answer.json, { ...key, secret });
    assert.equal((answer.json as FoundKey).nickname, nickname);
    assert.deepEqual((answer.json as FoundKey).owner, { id: user.account.id, email: user.account.email, name: null });
    await assertNotKept(app, text);
  }
  assert.deepEqual(
    (await identified(app)).map(({ actor, accountId, target, details }) => [actor, accountId, target, details]),
    expected.map(([, keyId, nickname, secret]) => [
      `account:${administrator.account.id}`,
      user.account.id,
      String(keyId),
      JSON.stringify({ nickname, secret }),
    ]),
  );
});

test('a secret of no key is not found, and leaves no event and no trace', async () => {
  await using client = await newKeyClient();
  const { app, key, user, id } = client;
  const administrator = await newAdministrator(app);
  await app.service.services.leaks.report(operator, [{ text: key }]);
  assert.equal((await client.send('DELETE')).status, 200);
  const deleted = await find(app, administrator, key);
  assert.equal(
    assertProblem(fromFetch(deleted), 'key_not_found').detail,
    `The secret belonged to the API key ${id}, which has been deleted.`,
  );
  const texts = [
    makeKey('krv').reveal(),
    makeKey('krvt').reveal(),
    user.refreshToken,
    user.accessToken.slice(0, 512),
    ' ',
  ];
  for (const text of texts) {
    assertProblem(fromFetch(await find(app, administrator, text)), 'key_not_found', text);
    if (text !== ' ') await assertNotKept(app, text);
  }
  assert.deepEqual(await identified(app), []);
});

test('a body without one text of bounded length is rejected, and its text is kept in no log', async () => {
  await using client = await newKeyClient();
  const { app } = client;
  const administrator = await newAdministrator(app);
  const canary = 'q7ZcanaryZ7q';
  const bodies = [
    {},
    { key: '' },
    { key: 1 },
    { key: [canary] },
    { key: canary.repeat(limits.importedKeyCharsMax) },
    { key: canary, id: 1 },
    { [canary]: canary },
  ];
  for (const body of bodies) {
    const answer = await administer(app, administrator, 'POST', 'api-keys/find', body);
    assertProblem(fromFetch(answer), 'invalid_request', JSON.stringify(body).slice(0, 40));
  }
  assert.ok(!app.logLines.join('').includes(canary));
});
