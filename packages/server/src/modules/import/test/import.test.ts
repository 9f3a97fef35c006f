/** Imports on each database: which lines are imported, which are rejected and why, and repeated imports. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import * as accountStore from '../../accounts/store.ts';
import { rememberLeakedTx } from '../../api-keys/leak-store.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import { changesIn } from '../../backup/test/narrowed-keys.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { wereKeysImported } from '../../../foundation/database/installation.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { accountImporter, type AccountImportOptions } from '../accounts.ts';
import { keyImporter, type KeyImportOptions } from '../api-keys.ts';
import type { Records } from '../records.ts';
import { runImport, type ImportCounts, type Importer, type Warning } from '../run-import.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { foreignVectors } from '../../../foundation/crypto/test/foreign-hash-vectors.ts';
import { onEachDatabase, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, keys, now, operator } from '../../../../test-kit/rows.ts';
import { deleteKey } from '../../../../test-kit/store-changes.ts';

const clock = new FakeClock(now);
const hasher = new PasswordHasher(keys.passwordPeppers, { memoryKib: 64, passes: 1, lanes: 1 });
const bcrypt = foreignVectors.find(({ name }) => name === 'bcrypt $2b')?.hash ?? '';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

type Report = ImportCounts & { refusedLines: Record<number, string> };

async function run<Item>(
  importer: Importer<Item>,
  source: AsyncIterable<Uint8Array>,
  onWarnings?: (warnings: readonly Warning[]) => void,
  records?: Records,
): Promise<Report> {
  const refusedLines: Record<number, string> = {};
  const listener = {
    refused: async ({ line, reason }: { line: number; reason: string }) => void (refusedLines[line] = reason),
    progress: () => undefined,
  };
  const { warnings, traits: _, ...rest } = await runImport(source, importer, listener, records);
  onWarnings?.(warnings);
  return { ...rest, refusedLines };
}

async function* fileOf(lines: readonly (string | object | Uint8Array)[], end = '\n'): AsyncGenerator<Uint8Array> {
  for (const [index, line] of lines.entries()) {
    yield Buffer.from(typeof line === 'string' || line instanceof Uint8Array ? line : JSON.stringify(line));
    yield Buffer.from(index === lines.length - 1 ? end : '\n');
  }
}

const importAccounts = (db: Db, lines: Parameters<typeof fileOf>[0], more: Partial<AccountImportOptions> = {}) =>
  run(
    accountImporter(operator, {
      db,
      clock,
      revocations: undefined,
      hasher,
      isDryRun: false,
      onExisting: 'skip',
      ...more,
    }),
    fileOf(lines),
  );
const importKeys = (db: Db, lines: Parameters<typeof fileOf>[0], more: Partial<KeyImportOptions> = {}) =>
  run(
    keyImporter(operator, { db, clock, keyHash: keys.apiKeyHash, keysPerAccountMax: 3, isDryRun: false, ...more }),
    fileOf(lines),
  );

const counts = (lines: number, imported: number, existing: number, refused = 0): ImportCounts => ({
  lines,
  imported,
  updated: 0,
  existing,
  changed: 0,
  refused,
});

onEachDatabase('an account is imported with its states and its audit events', async ({ db }) => {
  const report = await importAccounts(db, [
    { email: 'Ada@Example.com', passwordHash: bcrypt, createdAt: '2024-02-29T12:00:00+01:00' },
    { email: 'bob@example.com', verified: false, disabled: true, passwordHash: null },
  ]);
  assert.deepEqual(report, { ...counts(2, 2, 0), refusedLines: {} });
  const ada = await accountStore.findCredentials(db, 'ada@example.com');
  const bob = await accountStore.findCredentials(db, 'bob@example.com');
  assert.ok(ada && bob);
  assert.match(ada.id, /^acc_[0-9A-Za-z]{22}$/);
  assert.match(ada.passwordHash, /^\$imported\$bcrypt\$c=4,l=31,keyid=cDE\$/);
  const { passwordHash, id, ...rest } = { ...ada };
  assert.deepEqual(rest, {
    email: 'Ada@Example.com',
    canonicalEmail: 'ada@example.com',
    role: 'user',
    createdAt: Date.UTC(2024, 1, 29, 11),
    updatedAt: now,
    disabledAt: null,
    unverifiedSince: null,
    requiresSecondFactor: 0,
    sessionEpoch: 0,
    emailUnconfirmedSince: null,
    kind: 'person',
    language: null,
  });
  assert.deepEqual([bob.passwordHash, bob.disabledAt, bob.unverifiedSince], ['', now, now]);
  const trail = await listAuditEvents(db);
  const events = trail.map(({ actor, action, accountId, target, details }) => [
    actor,
    action,
    accountId,
    target,
    details,
  ]);
  const details = (imported: string): string => JSON.stringify({ role: 'user', imported });
  assert.deepEqual(events, [
    ['operator', 'account.created', id, null, details('bcrypt')],
    ['operator', 'account.created', bob.id, null, details('without a password')],
    ['operator', 'account.disabled', bob.id, bob.id, null],
  ]);
  assert.ok(!JSON.stringify(trail).includes(passwordHash));
});

const tooLong = `{"email":"${'x'.repeat(limits.importLineBytesMax)}@example.com"}`;
/** Each line with the reason of its rejection. */
const badLines: readonly (readonly [line: string | object | Uint8Array, reason: RegExp])[] = [
  ['{"email":"a@example.com"', /^it is not JSON in UTF-8$/],
  ['[]', /^it is not a JSON object$/],
  ['"a@example.com"', /^it is not a JSON object$/],
  ['{"email":"a@example.com","email":"b@example.com"}', /occurs twice/],
  ['{"email":"a@example.com","__proto__":{}}', /not allowed/],
  [`{"email":"a@example.com","disabled":${'['.repeat(9)}${']'.repeat(9)}}`, /nested too deeply/],
  [Buffer.from('{"email":"\xff@example.com"}', 'latin1'), /^it is not JSON in UTF-8$/],
  [tooLong, /^it is longer than 65536 bytes$/],
  [{}, /^email is missing$/],
  [{ email: '' }, /^email is missing$/],
  [{ email: 1 }, /^email is not a string$/],
  [{ email: 'a@example' }, /^email is not an email address$/],
  [{ email: 'a@example.com\r\nBcc: b@example.com' }, /^email is not an email address$/],
  [{ email: 'a@example.com', role: 'admin' }, /^the field “role” is unknown$/],
  [{ email: 'a@example.com', id: 'acc_1' }, /^the field “id” is unknown$/],
  [{ email: 'a@example.com', verified: 'yes' }, /^verified is not true or false$/],
  [{ email: 'a@example.com', disabled: 0 }, /^disabled is not true or false$/],
  [
    { email: 'a@example.com', passwordHash: 'secret' },
    /^passwordHash can’t be used: it is a plain password, which is not imported/,
  ],
  [{ email: 'a@example.com', passwordHash: bcrypt.replace('$04$', '$20$') }, /costs too much: its cost is 20/],
];

onEachDatabase(
  'an invalid line is reported with its number and reason, and the other lines are imported',
  async ({ db }) => {
    const good = (name: string) => ({ email: `${name}@example.com` });
    const lines = [good('first'), ...badLines.map(([line]) => line), '', good('last')];
    for (const isDryRun of [true, false]) {
      const { refusedLines, ...rest } = await importAccounts(db, lines, { isDryRun });
      assert.deepEqual(rest, counts(badLines.length + 2, 2, 0, badLines.length));
      for (const [index, [, reason]] of badLines.entries()) assert.match(refusedLines[index + 2] ?? '', reason);
      assert.equal(Object.keys(refusedLines).length, badLines.length);
    }
    const all = await accountStore.listAccounts(db, undefined, 100);
    assert.deepEqual(all.map(({ email }) => email).toSorted(), ['first@example.com', 'last@example.com']);
    assert.equal((await listAuditEvents(db)).length, 2);
  },
);

onEachDatabase('a truncated file is reported at its last line', async ({ db }) => {
  const whole = JSON.stringify({ email: 'é@example.com', verified: true }).replace('é', 'e');
  for (const end of [1, 5, 12, whole.length - 1]) {
    const lines = [{ email: 'first@example.com' }, whole.slice(0, end)];
    const source = fileOf(lines, '');
    const importer = accountImporter(operator, {
      db,
      clock,
      revocations: undefined,
      hasher,
      isDryRun: true,
      onExisting: 'skip',
    });
    const { refusedLines } = await run(importer, source);
    assert.deepEqual(refusedLines, { 2: 'the file is cut off in this line' });
  }
  const importer = accountImporter(operator, {
    db,
    clock,
    revocations: undefined,
    hasher,
    isDryRun: true,
    onExisting: 'skip',
  });
  // Only the last line feed is missing.
  assert.deepEqual(await run(importer, fileOf([whole], '')), { ...counts(1, 1, 0), refusedLines: {} });
});

onEachDatabase('an email address is imported once, within a file and across imports', async ({ db }) => {
  await addAccount(db, 'ada');
  const lines = [{ email: 'ADA@example.com' }, { email: 'bob@example.com' }, { email: 'Bob@EXAMPLE.com' }];
  const twice = { 3: 'line 2 has the same email' };
  assert.deepEqual(await importAccounts(db, lines, { isDryRun: true }), { ...counts(3, 1, 1, 1), refusedLines: twice });
  assert.equal((await accountStore.listAccounts(db, undefined, 10)).length, 1);
  assert.deepEqual(await importAccounts(db, lines), { ...counts(3, 1, 1, 1), refusedLines: twice });
  const trail = await listAuditEvents(db);
  assert.deepEqual(await importAccounts(db, lines), { ...counts(3, 0, 2, 1), refusedLines: twice });
  assert.deepEqual(await listAuditEvents(db), trail);
  const exists = 'an account with this email address already exists';
  for (const isDryRun of [true, false]) {
    const { refusedLines } = await importAccounts(db, lines, { onExisting: 'fail', isDryRun });
    assert.deepEqual(refusedLines, { 1: exists, 2: exists, ...twice });
  }
});

onEachDatabase('concurrent imports of one file create each account once', async (opened) => {
  const other = await opened.connect();
  const lines = Array.from({ length: 200 }, (_, index) => ({ email: `user${index}@example.com` }));
  const shuffled = (rival: number) =>
    lines.toSorted((one, two) => (rival % 2 === 0 ? 1 : -1) * (one.email < two.email ? 1 : -1));
  const reports = await Promise.all(
    Array.from({ length: rivalsMin }, (_, rival) =>
      importAccounts(rival % 2 === 0 ? opened.db : other, shuffled(rival)),
    ),
  );
  assert.equal(
    reports.reduce((sum, { imported }) => sum + imported, 0),
    200,
  );
  assert.equal(
    reports.reduce((sum, { existing }) => sum + existing, 0),
    200 * (rivalsMin - 1),
  );
  assert.equal((await accountStore.listAccounts(opened.db, undefined, 1_000)).length, 200);
  assert.equal((await listAuditEvents(opened.db)).length, 200);
});

onEachDatabase(
  'a key is imported by its SHA-256 in hexadecimal, base64 or base64url, and found by its text',
  async ({ db }) => {
    await claimInstallation(db, keys.check, now);
    const ada = await addAccount(db, 'ada');
    assert.equal(await wereKeysImported(db), false);
    const lines = [
      { account: 'Ada@example.com', nickname: 'hex', hash: sha256('sk_1').toString('hex'), scopes: ['a', 'b'] },
      {
        account: ada,
        nickname: 'base64url',
        hash: sha256('sk_2').toString('base64url'),
        expiresAt: '2027-01-01T00:00:00Z',
      },
      { account: ada, nickname: 'base64', hash: sha256('sk_3').toString('base64'), createdAt: '2020-01-01T00:00:00Z' },
    ];
    const report = { ...counts(3, 3, 0), refusedLines: {} };
    assert.deepEqual(await importKeys(db, lines, { isDryRun: true }), report);
    assert.equal(await wereKeysImported(db), false);
    assert.deepEqual(await listAccountKeys(db, ada), []);
    assert.deepEqual(await importKeys(db, lines), report);
    assert.equal(await wereKeysImported(db), true);
    const states = await findKeyStates(
      db,
      ['sk_1', 'sk_2', 'sk_3'].map((text) => keys.apiKeyHash.stored(text)),
    );
    assert.deepEqual(
      states.map((state) => [state?.nickname, state?.scopes, state?.expiresAt, state?.createdAt, state?.accountId]),
      [
        ['hex', 'a b', null, now, ada],
        ['base64url', '', Date.UTC(2027, 0, 1), now, ada],
        ['base64', '', null, Date.UTC(2020, 0, 1), ada],
      ],
    );
    const created = (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.created');
    assert.deepEqual(
      created.map(({ target }) => target),
      states.map((state) => String(state?.id)),
    );
    assert.equal(created[0]?.details, JSON.stringify({ nickname: 'hex', scopes: ['a', 'b'], imported: 'sha256' }));
    assert.deepEqual(await importKeys(db, lines), { ...counts(3, 0, 3), refusedLines: {} });
    assert.equal((await listAuditEvents(db)).filter(({ action }) => action === 'api_key.created').length, 3);
  },
);

onEachDatabase('a key that was deleted here cannot be imported again', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const ada = await addAccount(db, 'ada');
  const lines = [{ account: ada, nickname: 'old', hash: sha256('sk_old').toString('hex') }];
  assert.equal((await importKeys(db, lines)).imported, 1);
  const id = (await listAccountKeys(db, ada))[0]?.id ?? 0;
  await deleteKey(db, { principal: operator, now }, ada, id);
  for (const isDryRun of [true, false]) {
    const { refusedLines } = await importKeys(db, lines, { isDryRun });
    assert.deepEqual(refusedLines, { 1: 'the key was deleted here; a deletion can’t be undone' });
  }
  assert.deepEqual(await listAccountKeys(db, ada), []);
});

onEachDatabase('the replaced secret of an imported key cannot be imported again', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const ada = await addAccount(db, 'ada');
  const lines = [{ account: ada, nickname: 'old', hash: sha256('sk_old').toString('hex') }];
  await importKeys(db, lines);
  const id = (await listAccountKeys(db, ada))[0]?.id ?? 0;
  const changes = changesIn(db, now);
  await changes.rotate(operator, ada, id, { overlapSeconds: 0, endPrevious: false });
  await changes.change(operator, ada, id, { nickname: 'new' });
  for (const isDryRun of [true, false])
    assert.deepEqual(await importKeys(db, lines, { isDryRun }), { ...counts(1, 0, 1), refusedLines: {} });
  assert.deepEqual(await findKeyStates(db, [keys.apiKeyHash.stored('sk_old')]), [undefined]);
});

onEachDatabase('a leaked secret cannot be imported', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const ada = await addAccount(db, 'ada');
  await db.transaction(async (tx) => rememberLeakedTx(tx, keys.apiKeyHash.stored('sk_old'), now));
  const lines = ['sk_old', 'sk_new'].map((secret) => ({
    account: ada,
    nickname: secret,
    hash: sha256(secret).toString('hex'),
  }));
  for (const isDryRun of [true, false]) {
    const { refusedLines } = await importKeys(db, lines, { isDryRun });
    assert.deepEqual(refusedLines, { 1: 'the secret was reported as leaked; replace it' });
  }
  assert.deepEqual(
    (await listAccountKeys(db, ada)).map(({ nickname }) => nickname),
    ['sk_new'],
  );
});

onEachDatabase('an invalid key is rejected with the same reason in an import and a dry run', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  await addKey(db, ada, 'laptop');
  await importAccounts(db, [{ email: 'eve@example.com', verified: false }]);
  await importKeys(db, [{ account: bob, nickname: 'his', hash: sha256('bob').toString('hex') }]);
  const key = (nickname: string, more: object = {}) => ({
    account: ada,
    nickname,
    hash: sha256(`sk ${nickname}`).toString('hex'),
    ...more,
  });
  const cases: readonly (readonly [line: object, reason: RegExp | undefined])[] = [
    [key('one'), undefined],
    [key('orphan', { account: 'unknown@example.com' }), /^there is no such account$/],
    [key('unverified', { account: 'eve@example.com' }), /^the account’s email is not verified$/],
    [key('again', { hash: sha256('sk one').toString('base64url') }), /^line 1 has the same hash$/],
    [key('bob’s', { hash: sha256('bob').toString('hex') }), /^another account has a key with this hash$/],
    [key('short', { hash: 'abcdef' }), /^hash is not a SHA-256/],
    [key('loose', { hash: `${'A'.repeat(42)}B` }), /^hash is not a SHA-256/],
    [key('plain', { hash: 'sk_live_0123456789' }), /^hash is not a SHA-256/],
    [key('late', { expiresAt: '2020-01-01T00:00:00Z' }), /^the key has expired$/],
    [key('ours', { scopes: ['keyreeve:verify'] }), /^scopes that begin with keyreeve: are not imported$/],
    [key('bad', { scopes: ['a b'] }), /scope/],
    [key('bad', { scopes: 'a' }), /^scopes is not a list of strings$/],
    [key('id', { id: 1 }), /^the field “id” is unknown$/],
    [key('never', { expiresAt: 'soon' }), /^expiresAt is not a time/],
    [key('off', { disabled: true }), /^the key is disabled$/],
    [key('token', { prefix: 'krvr_' }), /^no verification accepts a key that begins like this one/],
    [key('part', { prefix: 'sk_live', hash: sha256('sk_live').toString('hex') }), /^hash is that of the prefix/],
    [key('empty', { hash: sha256('').toString('hex') }), /^hash is that of an empty text/],
    [{ account: ada, nickname: 'clear', key: 'sk_clear' }, /clear text; add --plain-keys/],
    [key('both', { key: 'sk_both' }), /^it has both key and hash$/],
    [key('two'), undefined],
    [key('three'), /^the account already has 3 keys$/],
  ];
  const lines = cases.map(([line]) => line);
  for (const isDryRun of [true, false]) {
    const { refusedLines, imported } = await importKeys(db, lines, { isDryRun });
    for (const [index, [line, reason]] of cases.entries()) {
      if (reason === undefined) assert.equal(refusedLines[index + 1], undefined, JSON.stringify(line));
      else assert.match(refusedLines[index + 1] ?? '', reason, JSON.stringify(line));
    }
    assert.equal(imported, 2);
  }
  assert.deepEqual((await listAccountKeys(db, ada)).map(({ nickname }) => nickname).toSorted(), [
    'laptop',
    'one',
    'two',
  ]);
});
