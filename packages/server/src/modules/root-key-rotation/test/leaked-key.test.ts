/** What an attacker can do with the leaked root key, and a copy of the database from after the rotation: nothing. */
import assert from 'node:assert/strict';
import { SignJWT, importJWK, type JWK } from 'jose';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { as, newEnrolledAccount, signInWith } from '../../../../test-kit/authenticator.ts';
import { operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { addPasskey, sendPasskey, signInOptions } from '../../../../test-kit/passkeys.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { findMasterKey } from '../../../app/installation/installation.ts';
import type { InstallationKeys } from '../../../foundation/crypto/master-key.ts';
import { DamagedRootKeyError, RootKeys } from '../../../foundation/crypto/root-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { newestSchema } from '../../../foundation/database/migrate.ts';
import type { SealedRow } from '../../../foundation/database/reseal.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { chainNumbers, macOf } from '../../audit/chain.ts';
import { listChain, type PlacedEvent } from '../../audit/store.ts';
import { verifyLog, type Finding } from '../../audit/verify-log.ts';
import { rootKeysOfBackup } from '../../backup/backup-keys.ts';
import { writeBackup } from '../../backup/write-backup.ts';
import {
  JournalFile,
  readJournal,
  readPosition,
  writePosition,
  type JournalError,
} from '../../deletion-journal/files.ts';
import { insertJobTx } from '../../outbox/store.ts';
import { makeChallenge } from '../../passkeys/challenge.ts';
import { RefreshTokens } from '../../tokens/refresh-token.ts';
import { listSigningKeys } from '../../signing-keys/store.ts';
import { newRotatable, type Rotatable } from './rotation-kit.ts';

const sealedValues = {
  second_factors: sql<SealedRow>(
    'test_sealed_factors',
    'select a.id as key, a.id, f.secret as sealed from second_factors f join accounts a on a.pk = f.account_pk',
  ),
  webhook_endpoints: sql<SealedRow>(
    'test_sealed_hooks',
    'select id as key, id, secret as sealed from webhook_endpoints',
  ),
  signing_keys: sql<SealedRow>(
    'test_sealed_keys',
    'select kid as key, kid as id, private_jwk as sealed from signing_keys',
  ),
  outbox: sql<SealedRow>('test_sealed_jobs', 'select id as key, id, payload as sealed from outbox'),
};

const sealersOf = (keys: InstallationKeys) => ({
  second_factors: keys.secondFactorSeal,
  webhook_endpoints: keys.webhookSeal,
  signing_keys: keys.signingKeySeal,
  outbox: keys.outboxSeal,
});

/** @returns by table: the number of values that the keys open, and of those that they do not open */
async function openedBy(db: Db, keys: InstallationKeys): Promise<Record<string, [opened: number, closed: number]>> {
  const sealers = sealersOf(keys);
  const counts: Record<string, [number, number]> = {};
  for (const [table, statement] of Object.entries(sealedValues)) {
    const count: [number, number] = [0, 0];
    for (const { id, sealed } of await db.all(statement)) {
      let isOpen = true;
      try {
        sealers[table as keyof typeof sealers].open(id, sealed);
      } catch {
        isOpen = false;
      }
      count[isOpen ? 0 : 1]++;
    }
    counts[table] = count;
  }
  return counts;
}

async function fill(app: TestApp): Promise<void> {
  await newEnrolledAccount(app, 'ada@example.com');
  const hook = { url: 'https://example.com/hook', events: ['account.created'] };
  await app.service.services.webhooks.endpoints.create(operator, hook);
  const job = app.service.services.outbox.prepare('mail', 'later', { text: 'a' });
  await app.db.transaction((tx) => insertJobTx(tx, { ...job, dueAt: Number.MAX_SAFE_INTEGER }));
}

/** @returns the leaked keys */
async function rotated(installation: Rotatable, use = fill): Promise<InstallationKeys> {
  const leaked = await installation.run(async (app) => {
    await use(app);
    return app.installation.keys;
  });
  await installation.rotate();
  return leaked;
}

test('it opens no sealed value', async () => {
  await using installation = await newRotatable();
  const leaked = await rotated(installation);
  await installation.run(async (app) => {
    const byLeaked = await openedBy(app.db, leaked);
    const byNew = await openedBy(app.db, app.installation.keys);
    for (const [table, [opened]] of Object.entries(byLeaked)) assert.equal(opened, 0, table);
    for (const [table, [, closed]] of Object.entries(byNew)) assert.equal(closed, 0, table);
    assert.deepEqual(byNew['second_factors'], [1, 0]);
    assert.deepEqual(byNew['webhook_endpoints'], [1, 0]);
    assert.deepEqual(byNew['signing_keys'], [2, 0]);
    assert.deepEqual(byNew['outbox'], [1, 0]);
  });
});

test('it forges neither a refresh token nor an access token', async () => {
  await using installation = await newRotatable();
  let stolen: { kid: string; alg: string; privateJwk: string } | undefined;
  let old = '';
  const leaked = await rotated(installation, async (app) => {
    old = (await app.signIn('ada@example.com')).refreshToken;
    const [row] = await listSigningKeys(app.db);
    assert.ok(row);
    stolen = { ...row, privateJwk: app.installation.keys.signingKeySeal.open(row.kid, row.privateJwk) };
  });
  await installation.run(async (app) => {
    const signedIn = await signInWith(app, 'ada@example.com');
    const tokens = new RefreshTokens(leaked);
    const parsed = tokens.parse(old);
    assert.ok(parsed && stolen);
    for (const token of [old, tokens.successor(parsed).text.reveal(), tokens.first().text.reveal()]) {
      const answer = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: token } });
      assert.equal(answer.status, 401, answer.text);
    }
    // The claims of a valid token, signed with the stolen key.
    const [, claims = ''] = signedIn.accessToken.split('.');
    const key = await importJWK(JSON.parse(stolen.privateJwk) as JWK, stolen.alg);
    const forged = await new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>)
      .setProtectedHeader({ alg: stolen.alg, kid: stolen.kid, typ: 'at+jwt' })
      .sign(key);
    assert.equal((await as(app, signedIn, 'GET', '/auth/account')).status, 200);
    assert.equal((await as(app, { accessToken: forged }, 'GET', '/auth/account')).status, 401);
  });
});

test('it forges no one-time code and no session cookie: their hashes differ', async () => {
  await using installation = await newRotatable();
  const leaked = await rotated(installation);
  await installation.run(({ installation: { keys } }) => {
    for (const purpose of [
      'oneTimeCodeHash',
      'consoleSessionHash',
      'refreshTokenHash',
      'singleSignOn',
      'rateLimitBucket',
    ] as const)
      assert.notDeepEqual(keys[purpose].stored('a'), leaked[purpose].stored('a'), purpose);
    return Promise.resolve();
  });
});

test('it forges no challenge for a passkey', async () => {
  await using installation = await newRotatable();
  let added: Awaited<ReturnType<typeof addPasskey>> | undefined;
  const leaked = await rotated(installation, async (app) => {
    added = await addPasskey(app, await app.signIn());
  });
  await installation.run(async (app) => {
    const options = await signInOptions(app);
    const challenge = makeChallenge(leaked.passkeyChallenges, ['sign-in'], installation.clock.now());
    assert.ok(added);
    const forged = await sendPasskey(app, added.authenticator.get({ ...options, challenge }));
    assert.equal(forged.status, 401, forged.text);
    const genuine = await sendPasskey(app, added.authenticator.get(options));
    assert.equal(genuine.status, 200, genuine.text);
  });
});

let statements = 0;
const tamper = (db: Db, text: string, ...values: (string | number | Uint8Array | null)[]): Promise<number> =>
  db.transaction((tx) => tx.run(sql(`test_forge_${++statements}`, text), values));

async function findingsOf({ db, installation, clock }: TestApp): Promise<readonly Finding[]> {
  const verified = await db.snapshot((reader) => verifyLog(reader, installation.keys, { now: clock.now() }));
  return verified.findings;
}

/** Rewrites the event at a position and all later ones up to another, as the leaked key allows. */
async function rewrite(db: Db, leaked: InstallationKeys, events: readonly PlacedEvent[], from: number): Promise<void> {
  let previous = events[from - 2]?.mac ?? undefined;
  for (const event of events.slice(from - 1)) {
    const changed = event.position === from ? { ...event, actor: 'system' } : event;
    previous = macOf(leaked.auditChain, changed, previous);
    await tamper(db, 'update audit_events set actor = $2, mac = $3 where id = $1', event.id, changed.actor, previous);
  }
}

test('it neither rewrites nor appends an audit event unnoticed', async () => {
  await using installation = await newRotatable();
  const leaked = await rotated(installation, async (app) => {
    for (const name of ['one', 'two', 'three'])
      await app.service.services.scopeCatalogue.set(operator, name, { description: name });
  });
  await installation.run(async (app) => {
    assert.deepEqual(await findingsOf(app), []);
    const events = await listChain(app.db, 0, 0, 100);
    const boundary = await app.db.get(boundaryOf);
    assert.ok(boundary && boundary.position >= 3);
    const before = events.slice(0, boundary.position);
    const restore = async () => {
      for (const { id, actor, mac } of events)
        await tamper(app.db, 'update audit_events set actor = $2, mac = $3 where id = $1', id, actor, mac);
    };
    // Everything before the rotation, with valid MACs under the leaked key.
    await rewrite(app.db, leaked, before, 2);
    assert.deepEqual(
      (await findingsOf(app)).map(({ fault, position }) => [fault, position]),
      [
        ['edited', boundary.position],
        ['edited', boundary.position + 1],
      ],
    );
    await restore();
    // Everything from before to the end.
    await rewrite(app.db, leaked, events, 2);
    assert.ok((await findingsOf(app)).length > 0);
    await restore();
    assert.deepEqual(await findingsOf(app), []);
    // A record of the change that moves the boundary to the end.
    const end = events.at(-1);
    assert.ok(end?.mac);
    await tamper(app.db, 'update audit_key_changes set position = $1, mac = $2 where chain = 0', end.position, end.mac);
    assert.match((await findingsOf(app))[0]?.detail ?? '', /record of the change to version 2/);
    await tamper(app.db, 'delete from audit_key_changes where chain = 0');
    assert.ok((await findingsOf(app)).length > 0);
  });
});

const boundaryOf = sql<{ position: number }>(
  'test_boundary',
  'select position from audit_key_changes where chain = 0 and version = 2',
);

test('events from before the rotation cannot be truncated unnoticed', async () => {
  await using installation = await newRotatable();
  await rotated(installation);
  await installation.run(async (app) => {
    await tamper(app.db, 'delete from audit_events where chain > 0');
    await tamper(app.db, 'update audit_chains set events = 0 where chain > 0');
    assert.ok((await findingsOf(app)).every(({ fault }) => fault === 'cut'));
    assert.ok((await findingsOf(app)).length > 0);
    // Without the counters, and without the records of the rotation too.
    await tamper(app.db, 'delete from audit_chains where chain > 0');
    assert.ok((await findingsOf(app)).every(({ fault }) => fault === 'cut'));
    assert.ok((await findingsOf(app)).length > 0);
    await tamper(app.db, 'delete from audit_key_changes where chain > 0');
    assert.deepEqual(
      (await findingsOf(app)).map(({ fault, chain, detail }) => [fault, chain, detail]),
      chainNumbers
        .filter((chain) => chain > 0)
        .map((chain) => ['edited', chain, 'the record of the change to version 2 of the root key is missing']),
    );
  });
});

test('a backup from before the rotation is rejected, and no backup can be forged', async () => {
  await using installation = await newRotatable();
  using folder = newTempFolder();
  const path = join(folder.path, 'before.backup');
  const { clock } = installation;
  await rotated(installation, async ({ db, installation: { keys } }) => {
    await writeBackup({ db, keys, clock, version: '1.0.0', path });
  });
  await installation.run(async ({ db, installation: { rootKeys, keys } }) => {
    const masterKey = findMasterKey(installation.config);
    const schema = newestSchema(db.dialect);
    await assert.rejects(
      rootKeysOfBackup({ path }, schema, masterKey, rootKeys),
      /before the rotation of the root key/,
    );
    const alone = rootKeys.rows.filter(({ version }) => version === 1);
    assert.throws(() => RootKeys.open(masterKey, alone), DamagedRootKeyError);
    const after = join(folder.path, 'after.backup');
    await writeBackup({ db, keys, clock, version: '1.0.0', path: after });
    assert.deepEqual((await rootKeysOfBackup({ path: after }, schema, masterKey)).newest, rootKeys.newest);
  });
});

const idsIn = async (folder: string, keys: InstallationKeys, damage: JournalError[] = []): Promise<string[]> =>
  (await Array.fromAsync(readJournal(folder, keys, {}, (error) => damage.push(error)))).map(
    ({ kind, id }) => `${kind} ${id}`,
  );

test('it forges no entry of the deletion journal, and entries from before stay', async () => {
  await using installation = await newRotatable();
  const { path: folder } = installation.folder;
  let deleted = 0;
  const leaked = await rotated(installation, async (app) => {
    const { account } = await app.signIn();
    const { apiKeys } = app.service.services;
    deleted = (await apiKeys.create(operator, account.id, { nickname: 'a', scopes: [] })).id;
    await apiKeys.delete(operator, account.id, deleted);
  });
  await installation.run(async (app) => {
    const { keys } = app.installation;
    const damage: JournalError[] = [];
    const known = await idsIn(folder, keys, damage);
    assert.ok(known.includes(`api_key ${deleted}`));
    assert.ok(
      known.some((entry) => entry.startsWith('signing_key ')),
      'the rotation revokes signing keys',
    );
    assert.deepEqual(damage, []);
    const position = await readPosition(folder, keys);
    assert.ok(position);
    await new JournalFile(folder, leaked).append([{ kind: 'account', id: 'acc_forged', at: installation.clock.now() }]);
    assert.deepEqual(await idsIn(folder, keys, damage), known);
    assert.match(damage.map(({ message }) => message).join(), /earlier root key after its rotation/);
    // A forged position from before the rotation is not accepted.
    await writePosition(folder, leaked, { event: 1_000_000, mark: '', at: installation.clock.now(), changeKinds: 0 });
    assert.notEqual((await readPosition(folder, keys))?.event, 1_000_000);
  });
});

test('a changed file of the deletion journal from before the rotation is rejected', async () => {
  await using installation = await newRotatable();
  const { path: folder } = installation.folder;
  const leaked = await rotated(installation, async (app) => {
    const { account } = await app.signIn();
    const { apiKeys } = app.service.services;
    const { id } = await apiKeys.create(operator, account.id, { nickname: 'a', scopes: [] });
    await apiKeys.delete(operator, account.id, id);
  });
  const listed = readdirSync(folder).filter((name) => name.endsWith('.journal'));
  const { keys } = await installation.run((app) => Promise.resolve(app.installation));
  const damage: JournalError[] = [];
  // A file with the same name, under the leaked key, with other entries.
  using other = newTempFolder();
  await new JournalFile(other.path, leaked).append([{ kind: 'account', id: 'acc_forged', at: 1 }]);
  const [forged = ''] = readdirSync(other.path);
  for (const name of listed) copyFileSync(join(other.path, forged), join(folder, name));
  assert.ok(!(await idsIn(folder, keys, damage)).includes('account acc_forged'));
  assert.ok(damage.length > 0);
});
