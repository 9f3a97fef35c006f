/** What stays valid after a rotation of the root key, what ends, and when it is rejected. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  as,
  codeAt,
  newEnrolledAccount,
  signInWith,
  stepSeconds,
  trySignIn,
} from '../../../../test-kit/authenticator.ts';
import { gatherStatistics, isInDatabaseFiles } from '../../../../test-kit/database-files.ts';
import { basic, goodPassword, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { addPasskey, tryPasskey } from '../../../../test-kit/passkeys.ts';
import { newPortalBackend, stateOf } from '../../../../test-kit/portal.ts';
import { newTempFolder, type TempFolder } from '../../../../test-kit/temp-folder.ts';
import { until } from '../../../../test-kit/until.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { isRootKeyChanged, RootKeyChangedError } from '../../../foundation/database/root-key-changed.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { createLog } from '../../../foundation/log.ts';
import { announce } from '../../../app/processes/announce.ts';
import { saveInstanceTx } from '../../overview/store.ts';
import { Minutes } from '../../overview/minutes.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { findCheckpoints } from '../../audit/chain.ts';
import { takeCheckpoint } from '../../audit/checkpoint.ts';
import { verifyLog } from '../../audit/verify-log.ts';
import { JournalFile } from '../../deletion-journal/files.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';
import { RootKeyRotationError } from '../rotate.ts';
import { sealedTables } from '../sealed-columns.ts';
import { isKeyAccepted, newRotatable } from './rotation-kit.ts';

const hashes = sql<{ email: string; hash: string }>(
  'test_password_hashes',
  'select email, password_hash as hash from accounts order by email',
);

async function pepperOf(app: TestApp, email: string): Promise<string | undefined> {
  const row = (await app.db.all(hashes)).find((candidate) => candidate.email === email);
  return /keyid=([^$]+)/.exec(row?.hash ?? '')?.[1];
}

async function assertIntact({ db, installation, clock }: TestApp, checkpoints: readonly string[]): Promise<void> {
  const expected = { now: clock.now(), checkpoints: checkpoints.flatMap(findCheckpoints) };
  const { findings, checkpointsHeld } = await db.snapshot((reader) => verifyLog(reader, installation.keys, expected));
  assert.deepEqual(findings, []);
  assert.equal(checkpointsHeld, checkpoints.length);
}

const checkpointOf = async ({ db, installation }: TestApp): Promise<string> =>
  (await takeCheckpoint(db, installation.keys.auditChain))?.text ?? '';

const tags = { tags: ['asvs:11.2.2'] };

test('passwords, API keys, passkeys, second factors and webhooks stay valid, and sessions end', tags, async () => {
  await using installation = await newRotatable();
  const checkpoints: string[] = [];
  const before = await installation.run(async (app) => {
    const enrolled = await newEnrolledAccount(app, 'ada@example.com');
    const plain = await app.signIn('bob@example.com');
    const holder = await app.signIn('eve@example.com');
    const passkey = await addPasskey(app, holder);
    const { services } = app.service;
    const make = (nickname: string) => services.apiKeys.create(operator, plain.account.id, { nickname, scopes: [] });
    const [key, deleted] = [await make('kept'), await make('deleted')];
    await services.apiKeys.delete(operator, plain.account.id, deleted.id);
    const hook = { url: 'https://example.com/hook', events: ['account.created'] };
    const endpoint = await services.webhooks.endpoints.create(operator, hook);
    checkpoints.push(await checkpointOf(app));
    return {
      enrolled,
      plain,
      passkey,
      endpoint,
      key: key.secret.reveal(),
      deleted: deleted.secret.reveal(),
    };
  });
  for (const version of [2, 3]) {
    const result = await installation.rotate();
    assert.equal(result.version, version);
    assert.deepEqual(result.warnings, []);
    assert.ok(result.sessionsEnded > 0 && result.valuesResealed >= 3 && result.signingKeysRevoked === 1);
    assert.equal(result.valuesUnreadable, 0);
    await installation.run(async (app) => {
      installation.clock.advance({ seconds: stepSeconds });
      assert.equal(app.installation.keys.version, version);
      const { enrolled, plain, passkey, endpoint, key, deleted } = before;
      assert.equal((await as(app, plain, 'GET', '/auth/account')).status, 401);
      const refresh = { json: { refreshToken: plain.refreshToken } };
      assert.equal((await app.call('POST', '/auth/token/refresh', refresh)).status, 401);
      assert.equal(await isKeyAccepted(app, key), true);
      assert.equal(await isKeyAccepted(app, deleted), false);
      await signInWith(app, 'bob@example.com');
      // The hash is replaced after the response.
      const pepper = version === 2 ? 'cDI' : 'cDM';
      await until('a new password hash', async () => (await pepperOf(app, 'bob@example.com')) === pepper);
      assert.equal(await pepperOf(app, 'eve@example.com'), 'cDE');
      const code = codeAt(enrolled.secret, installation.clock.now());
      await signInWith(app, 'ada@example.com', code);
      const recovery = enrolled.recoveryCodes[version] ?? '';
      assert.equal((await trySignIn(app, 'ada@example.com', recovery)).status, 200);
      const answer = await tryPasskey(app, passkey.authenticator);
      assert.equal(answer.status, 200, answer.text);
      const { webhookSeal } = app.installation.keys;
      const [row] = await app.db.all(sealedWebhooks);
      assert.ok(row);
      assert.ok(webhookSeal.open(row.id, row.secret).includes(endpoint.secret.reveal()));
      checkpoints.push(await checkpointOf(app));
      await assertIntact(app, checkpoints);
    });
  }
});

const sealedWebhooks = sql<{ id: string; secret: Uint8Array }>(
  'test_sealed_webhooks',
  'select id, secret from webhook_endpoints',
);

test('one-time codes from before the rotation are gone', async () => {
  await using installation = await newRotatable();
  await installation.run(async (app) => {
    const { account } = await app.signIn();
    const { hash } = app.service.services.codes.make();
    const now = installation.clock.now();
    const code = { hash, purpose: 'reset_password', accountId: account.id, now, expiresAt: now + 60_000 } as const;
    await app.db.transaction((tx) => insertCodeTx(tx, code));
  });
  assert.equal((await installation.rotate()).oneTimeCodesDeleted, 1);
});

test('portal sessions from before the rotation are gone', async () => {
  await using installation = await newRotatable();
  const open = await installation.run(async (app) => (await newPortalBackend(app)).open());
  assert.equal((await installation.rotate()).portalSessionsEnded, 1);
  await installation.run(async (app) => {
    assertRejected(await stateOf(app, open), 'portal_session_ended');
    assert.deepEqual(await app.db.all(portalSessions), []);
  });
});

const portalSessions = sql<{ id: string }>('test_portal_sessions', 'select id from portal_sessions');

test('the rotation is an audit event under the new key', async () => {
  await using installation = await newRotatable();
  await installation.run((app) => app.signIn());
  await installation.rotate();
  await installation.run(async (app) => {
    const events = await listAuditEvents(app.db);
    const event = events.find(({ action }) => action === 'installation.root_key_rotated');
    assert.equal(event?.actor, 'operator');
    assert.equal((JSON.parse(event.details ?? '{}') as { version: number }).version, 2);
    await assertIntact(app, []);
  });
});

test('a dry run changes nothing', async () => {
  await using installation = await newRotatable();
  const tokens = await installation.run((app) => app.signIn());
  const result = await installation.rotate({ isDryRun: true });
  assert.deepEqual([result.version, result.sessionsEnded], [2, 1]);
  await installation.run(async (app) => {
    assert.equal(app.installation.keys.version, 1);
    assert.equal((await as(app, tokens, 'GET', '/auth/account')).status, 200);
    await assertIntact(app, []);
  });
});

testOnBoth('the rotation is rejected while a process of the service runs, and changes nothing', async () => {
  await using installation = await newRotatable();
  await installation.run(async (app) => {
    await assert.rejects(installation.rotate(), (error) => {
      assert.ok(error instanceof RootKeyRotationError);
      assert.ok(error.message.includes(app.service.services.minutes.id), error.message);
      return true;
    });
    assert.deepEqual(
      readdirSync(installation.folder.path).filter((name) => name.endsWith('.list')),
      [],
    );
    await signInWith(app, (await app.signIn()).account.email);
  });
  await installation.run((app) => Promise.resolve(assert.equal(app.installation.keys.version, 1)));
});

const sealedValues = sql<{ value: Uint8Array }>(
  'test_sealed_values',
  `select wrapped as value from root_keys union all select private_jwk from signing_keys
   union all select secret from webhook_endpoints union all select secret from second_factors`,
);

test('the files of the database contain no value that the earlier root key opens', tags, async () => {
  await using installation = await newRotatable();
  const values = await installation.run(async (app) => {
    await newEnrolledAccount(app, 'ada@example.com');
    const hook = { url: 'https://example.com/', description: null, events: ['api_key.deleted'] };
    await app.service.services.webhooks.endpoints.create(operator, hook);
    await gatherStatistics(app.db);
    const rows = await app.db.all(sealedValues);
    for (const { value } of rows) assert.equal(await isInDatabaseFiles(app.db, value), true);
    return rows.map(({ value }) => value);
  });
  assert.ok(values.length >= 4);
  assert.deepEqual((await installation.rotate()).warnings, []);
  await installation.run(async ({ db }) => {
    for (const value of values) assert.equal(await isInDatabaseFiles(db, value), false);
  });
});

/** A folder with the files of a deletion journal of another installation, without its position. */
async function newJournalOfAnother(): Promise<TempFolder> {
  const folder = newTempFolder();
  const other = deriveKeys(randomBytes(32));
  await new JournalFile(folder.path, other).append([{ kind: 'account', id: 'acc_other', at: 1 }]);
  return folder;
}

test('the rotation is rejected if a named folder has no deletion journal of the installation, and changes nothing', async () => {
  await using installation = await newRotatable();
  using folder = newTempFolder();
  using another = await newJournalOfAnother();
  await installation.run((app) => app.signIn());
  const { path: own } = installation.folder;
  const before = readdirSync(own);
  const nowhere = join(folder.path, 'nowhere');
  const files = readdirSync(another.path);
  assert.equal(files.length, 1);
  for (const wrong of [nowhere, folder.path, another.path])
    for (const isDryRun of [true, false])
      await assert.rejects(
        installation.rotate({ journalFolders: [own, wrong], isDryRun }),
        new RootKeyRotationError(`there is no deletion journal of this installation in ${wrong}`),
      );
  assert.deepEqual([readdirSync(own), existsSync(nowhere), readdirSync(folder.path)], [before, false, []]);
  assert.deepEqual(readdirSync(another.path), files);
  // The folder of the configuration may be empty.
  for (const name of readdirSync(own)) rmSync(join(own, name));
  assert.equal((await installation.rotate()).version, 2);
});

test('damaged files of a named folder, and files of another installation beside them, do not prevent the rotation', async () => {
  await using installation = await newRotatable();
  using folder = await newJournalOfAnother();
  const others = readdirSync(folder.path);
  await installation.run(async ({ installation: { keys } }) => {
    await new JournalFile(folder.path, keys).append([{ kind: 'account', id: 'acc_own', at: 1 }]);
  });
  const [own = ''] = readdirSync(folder.path).filter((name) => !others.includes(name));
  appendFileSync(join(folder.path, own), 'edited\n');
  const { version, warnings } = await installation.rotate({ journalFolders: [folder.path] });
  assert.equal(version, 2);
  assert.deepEqual(
    warnings.toSorted(),
    [
      `${join(folder.path, own)}: line 3 is damaged or was edited`,
      `${join(folder.path, others[0] ?? '')} belongs to another installation, which has another master key`,
    ].toSorted(),
  );
});

test('an instance whose last time is in the future is named as one with a wrong clock', async () => {
  await using installation = await newRotatable();
  await installation.run(async ({ db, clock }) => {
    const now = clock.now();
    const row = {
      id: 'ins_ahead',
      version: '1',
      startedAt: now,
      seenAt: now + 3_600_000,
      masterKeyId: '',
      settings: '{}',
    };
    await db.transaction(async (tx) => {
      await saveInstanceTx(tx, row);
      await saveInstanceTx(tx, { ...row, id: 'ins_running', seenAt: now });
    });
  });
  await assert.rejects(installation.rotate(), /ins_ahead .*in the future, as here: check the clocks/);
  // An instance with a correct clock is not ignored.
  const endedInstances = ['ins_ahead', 'ins_running'];
  await assert.rejects(installation.rotate({ endedInstances }), /: ins_running \([^)]*\)\. Stop/);
  installation.clock.advance({ seconds: 181 });
  assert.equal((await installation.rotate({ endedInstances })).version, 2);
});

test('a process that survives the rotation writes no audit event, and ends at its next heartbeat', async () => {
  await using installation = await newRotatable();
  await using stale = await installation.start(0);
  const { account } = await stale.signIn();
  // It has been suspended for so long that the rotation takes it for ended.
  installation.clock.advance({ seconds: 181 });
  await installation.rotate();
  await assert.rejects(
    stale.service.services.apiKeys.create(operator, account.id, { nickname: 'late', scopes: [] }),
    isRootKeyChanged,
  );
  const { status } = await stale.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  assert.ok(status >= 500, String(status));
  await assert.rejects(stale.service.services.minutes.write(), isRootKeyChanged);
  await installation.run((app) => assertIntact(app, []));
});

testOnBoth('a process that opened the database before the rotation does not start after it', async () => {
  await using installation = await newRotatable();
  await installation.run((app) => app.signIn());
  const opened = await installation.start();
  await using stack = new AsyncDisposableStack();
  const other = await opened.connect();
  stack.defer(() => other.db.close());
  await opened.service.stop();
  await installation.rotate();
  const { clock } = opened;
  const { masterKeyId } = other.rootKeys;
  const sources = { results: {}, signIns: {}, hashes: () => ({}), verificationMs: { counts: [] } };
  const minutes = new Minutes({
    db: other.db,
    clock,
    version: '1.0.0',
    masterKeyId,
    settings: '{}',
    rootKeyVersion: 1,
    sources,
  });
  const log = createLog('fatal', { write: () => undefined });
  await assert.rejects(announce({ minutes }, other, log), RootKeyChangedError);
  await assert.rejects(minutes.write(), isRootKeyChanged);
  // Its write fails, because the rotation has held the locks for too long.
  const blocked = { announce: () => Promise.reject(new DomainError('unavailable')) };
  await assert.rejects(announce({ minutes: blocked }, other, log), RootKeyChangedError);
});

testOnBoth('every sealed column of the schema is sealed again', () => {
  const asvs = readFileSync(new URL('../../../../../../docs/asvs.md', import.meta.url), 'utf8');
  const [, section = ''] = asvs.split('## Stored data');
  const documented = section
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([table, , sealed]) => table !== undefined && (sealed ?? '').startsWith('`'))
    .map(([table = '', , sealed = '']) => [table, [...sealed.matchAll(/`(\w+)`/g)].map(([, column]) => column)]);
  assert.ok(documented.length > 0);
  // The master key seals the root keys, which the rotation replaces.
  const resealed = sealedTables.map(({ table, columns }) => [table, Object.keys(columns)]);
  assert.deepEqual(
    Object.fromEntries(documented.filter(([table]) => table !== 'root_keys')),
    Object.fromEntries(resealed),
  );
});
