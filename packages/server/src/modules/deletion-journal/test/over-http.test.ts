/** The deletion journal over HTTP: the response to a deletion follows its journal entry. */
import assert from 'node:assert/strict';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '../../../foundation/errors.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { JournalFile, journalFiles, readJournal } from '../files.ts';
import { createFixedInstallation } from '../../../../test-kit/installation.ts';
import { bearer, goodPassword, newApp, operator } from '../../../../test-kit/new-app.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const masterKey = Buffer.alloc(32, 5);
const keys = deriveKeys(masterKey);

async function newJournaledApp(folder: string) {
  const place = await newPlace();
  await createFixedInstallation(place, masterKey);
  const environment = {
    KEYREEVE_DELETION_JOURNAL: folder,
    KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
  };
  const app = await newApp({ place, environment });
  return { app, [Symbol.asyncDispose]: async () => (await app[Symbol.asyncDispose](), place[Symbol.asyncDispose]()) };
}

const codeOf = (error: unknown): string | undefined => (error instanceof DomainError ? error.code : undefined);

const entriesOf = async (folder: string): Promise<string[]> =>
  (await Array.fromAsync(readJournal(folder, keys))).map(({ kind, id }) => `${kind} ${id}`);

test('a deletion, disabling or revocation is in the journal before its response', async () => {
  using temp = newTempFolder();
  await using running = await newJournaledApp(temp.path);
  const { app } = running;
  const { account, accessToken } = await app.signIn();
  const ids: number[] = [];
  for (const nickname of ['a', 'b', 'c', 'd']) {
    const made = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });
    ids.push((made.json as { id: number }).id);
  }
  const answers = await Promise.all(
    ids.map((id) => app.call('DELETE', `/auth/api-keys/${id}`, { headers: bearer(accessToken) })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const expected = ids.map((id) => `api_key ${id}`);
  assert.deepEqual((await entriesOf(temp.path)).toSorted(), expected.toSorted());

  const { accounts, signingKeys } = app.service.services;
  const [first] = await signingKeys.list();
  await accounts.disable(operator, account.id);
  await accounts.enable(operator, account.id);
  await signingKeys.rotate(operator, { immediately: true });
  await accounts.delete(operator, account.id);
  assert.deepEqual((await entriesOf(temp.path)).slice(4), [
    `account_disabled ${account.id}`,
    `account_enabled ${account.id}`,
    `signing_key ${first?.kid}`,
    `account ${account.id}`,
  ]);
});

test('a deletion without a journal entry holds, returns 503, and is added to the journal later', async () => {
  using temp = newTempFolder();
  const folder = join(temp.path, 'journal');
  await using running = await newJournaledApp(folder);
  const { app } = running;
  const { accessToken } = await app.signIn();
  const headers = bearer(accessToken);
  const made = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } });
  const { id, key } = made.json as { id: number; key: string };
  // A file in place of the folder makes every write fail.
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  const refused = await app.call('DELETE', `/auth/api-keys/${id}`, { headers });
  assert.equal(refused.status, 503);
  assert.match((refused.json as { detail: string }).detail, /The change is committed/);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 401);
  assert.ok(app.logLines.some((line) => line.includes('"event":"deletion_journal_failed"') && line.includes('error')));
  rmSync(folder);
  await app.service.services.journal?.catchUp();
  assert.deepEqual(await entriesOf(folder), [`api_key ${id}`]);
});

test('a change that narrows a key is in the journal before its response', async () => {
  using temp = newTempFolder();
  await using running = await newJournaledApp(temp.path);
  const { app } = running;
  const { accessToken } = await app.signIn();
  const headers = bearer(accessToken);
  const made = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a', scopes: ['a', 'b'] } });
  const { id } = made.json as { id: number };
  const path = `/auth/api-keys/${id}`;
  const narrowing = [
    ['PATCH', path, { disabled: true }],
    ['PATCH', path, { scopes: ['a'] }],
    ['PATCH', path, { expiresAt: '2027-01-01T00:00:00Z' }],
    ['PATCH', path, { addresses: ['192.0.2.0/24'] }],
    ['POST', `${path}/rotate`, {}],
    ['POST', `${path}/rotate`, { endPrevious: true }],
    ['POST', `${path}/rotate`, { endCurrent: true }],
    ['DELETE', `${path}/previous`],
  ] as const;
  const others = [
    ['PATCH', path, { disabled: false }],
    ['PATCH', path, { scopes: ['a', 'c'] }],
    ['PATCH', path, { expiresAt: null }],
    ['PATCH', path, { addresses: null }],
    ['PATCH', path, { nickname: 'b' }],
    ['PATCH', path, { metadata: { team: 7 } }],
  ] as const;
  let entries = 0;
  for (const [isNarrowing, requests] of [
    [true, narrowing],
    [false, others],
  ] as const) {
    for (const [method, where, json] of requests) {
      const answer = await app.call(method, where, { headers, ...(json ? { json } : {}) });
      assert.equal(answer.status, 200, answer.text);
      entries += isNarrowing ? 1 : 0;
      assert.deepEqual(
        await entriesOf(temp.path),
        Array.from({ length: entries }, () => `api_key_narrowed ${id}`),
      );
    }
  }
  await app.service.services.journal?.catchUp();
  assert.equal((await entriesOf(temp.path)).length, entries, 'the audit log has the same entries');
});

test('a service whose database has lost a deletion logs a warning when it starts', async () => {
  using temp = newTempFolder();
  await using place = await newPlace();
  await createFixedInstallation(place, masterKey);
  const environment = { KEYREEVE_DELETION_JOURNAL: temp.path, KEYREEVE_MASTER_KEY: masterKey.toString('base64url') };
  let id: string;
  {
    await using app = await newApp({ place, environment });
    id = (await app.signIn()).account.id;
    assert.ok(!app.logLines.some((line) => line.includes('deletion_journal_ahead')));
  }
  // As after a failover that lost an acknowledged deletion.
  await new JournalFile(temp.path, keys).append([{ kind: 'account', id, at: Date.now() }]);
  await using app = await newApp({ place, environment });
  const line = app.logLines.find((text) => text.includes('"event":"deletion_journal_ahead"'));
  assert.match(line ?? '', /"level":"warn".*"working":1.*keyreeve journal replay/);
});

test('a service starts with a copied file in the folder of the journal, and logs its path', async () => {
  using temp = newTempFolder();
  await using place = await newPlace();
  await createFixedInstallation(place, masterKey);
  const environment = { KEYREEVE_DELETION_JOURNAL: temp.path, KEYREEVE_MASTER_KEY: masterKey.toString('base64url') };
  {
    await using app = await newApp({ place, environment });
    await app.signIn();
  }
  await new JournalFile(temp.path, keys).append([{ kind: 'account', id: 'acc_gone', at: Date.now() }]);
  const [path = ''] = await journalFiles(temp.path);
  const copy = join(temp.path, 'copy.journal');
  copyFileSync(path, copy);
  await using app = await newApp({ place, environment });
  const line = app.logLines.find((text) => text.includes('"event":"deletion_journal_damaged"'));
  const { level, detail } = JSON.parse(line ?? '{}') as { level: string; detail: string };
  assert.equal(level, 'error');
  assert.ok(detail.startsWith(`${copy} is a copy of `), detail);
});

test('a change that removes rights is in the journal before its response', async () => {
  using temp = newTempFolder();
  await using running = await newJournaledApp(temp.path);
  const { app } = running;
  const { account, accessToken } = await app.signIn();
  const { accounts } = app.service.services;
  const passwords = { currentPassword: goodPassword, newPassword: 'another long enough passphrase' };
  const changed = await app.call('PUT', '/auth/account/password', { headers: bearer(accessToken), json: passwords });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await entriesOf(temp.path), [`password_changed ${account.id}`]);
  await accounts.setRole(operator, account.id, 'admin');
  await accounts.setRole(operator, account.id, 'user');
  await accounts.setPassword(operator, account.id, new Secret('a third long enough passphrase'));
  // The clock stands still, so each change also finds the events of earlier changes.
  const found = new Set(await entriesOf(temp.path));
  assert.deepEqual(found, new Set([`password_changed ${account.id}`, `role_removed ${account.id}`]));
  await accounts.requireSecondFactor(operator, account.id, true);
  const { endpoints } = app.service.services.webhooks;
  const request = { url: 'https://example.com/hook', events: ['account.created'] };
  const { id } = await endpoints.create(operator, request);
  const moved = await endpoints.create(operator, request);
  for (const [events, recorded] of [
    [['account.created', 'account.deleted'], 0],
    [['account.deleted'], 1],
  ] as const) {
    await endpoints.change(operator, moved.id, { events });
    const entries = await entriesOf(temp.path);
    assert.equal(entries.filter((entry) => entry === `webhook_disabled ${moved.id}`).length, recorded);
  }
  await endpoints.disable(operator, id);
  await endpoints.delete(operator, id);
  const later = [
    `webhook_disabled ${moved.id}`,
    `second_factor_required ${account.id}`,
    `webhook_disabled ${id}`,
    `webhook_deleted ${id}`,
  ];
  assert.deepEqual(new Set(await entriesOf(temp.path)), new Set([...found, ...later]));
  const other = await endpoints.create(operator, request);
  // A file in place of the folder makes every write fail.
  rmSync(temp.path, { recursive: true });
  writeFileSync(temp.path, '');
  await assert.rejects(endpoints.delete(operator, other.id), (error) => codeOf(error) === 'unavailable');
  assert.deepEqual(
    (await endpoints.list()).map(({ id: left }) => left),
    [moved.id],
    'it holds',
  );
  const again = accounts.setPassword(operator, account.id, new Secret('a fourth long enough passphrase'));
  await assert.rejects(again, (error) => codeOf(error) === 'unavailable');
  rmSync(temp.path);
});
