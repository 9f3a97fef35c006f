/** Unusual fields that no right depends on: they cost a warning, and never the record. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import * as accounts from '../../accounts/store.ts';
import { findKeyStates } from '../../api-keys/state-store.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import * as factors from '../../second-factors/store.ts';
import { stepOf } from '../../second-factors/totp.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { foreignVectors } from '../../../foundation/crypto/test/foreign-hash-vectors.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { accountImporter } from '../accounts.ts';
import { accountFormats } from '../formats.ts';
import { runImport } from '../run-import.ts';
import { clock, hasher, importAccounts, importKeys } from './import-run.ts';

const bcrypt = foreignVectors.find(({ name }) => name === 'bcrypt $2b')?.hash ?? '';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashless = 'the password hash is empty or means that there is no password, so the account has none until a reset';

onEachDatabase(
  'an unusual time, email address or hash costs a warning, and the account is imported',
  async ({ db }) => {
    const cases: readonly (readonly [more: object, warning: string | undefined])[] = [
      [{ createdAt: '2024-05-01 09:30:00' }, undefined],
      [{ createdAt: 1_714_555_800 }, undefined],
      [
        { createdAt: 'yesterday' },
        'createdAt is not a time like 2026-01-31T09:30:00Z; the time of the import is stored',
      ],
      [{ createdAt: true }, 'createdAt is not a time like 2026-01-31T09:30:00Z; the time of the import is stored'],
      [{ createdAt: '2099-01-01T00:00:00Z' }, 'createdAt is in the future; the time of the import is stored'],
      [{ passwordHash: '' }, hashless],
      [{ passwordHash: '!vJ8fE1kQ' }, hashless],
      [{ passwordHash: '*' }, hashless],
      [{ passwordHash: '!!' }, hashless],
      [{ passwordHash: '*LK*' }, hashless],
      [{ passwordHash: 'NULL' }, hashless],
      [{ passwordHash: ` ${bcrypt}\n` }, 'white space around the password hash is removed'],
    ];
    const emailWarning = 'white space, “mailto:” or a dot at the end of the email address is removed';
    const emails = [
      ' a@example.com',
      'b@example.com\u00A0',
      '\u200Bc@example.com',
      'mailto:d@example.com',
      'e@example.com.',
    ];
    const lines = [
      ...cases.map(([more], index) => ({ email: `user${index}@example.com`, ...more })),
      ...emails.map((email) => ({ email })),
    ];
    const expected = [...cases.map(([, warning]) => warning), ...emails.map(() => emailWarning)];
    const reasons = [...new Set(expected.filter((reason) => reason !== undefined))];
    const warnings = reasons.map((reason) => ({
      reason,
      lines: expected.filter((each) => each === reason).length,
      firstLine: expected.indexOf(reason) + 1,
    }));
    for (const isDryRun of [true, false]) {
      const report = await importAccounts(db, lines, { isDryRun });
      assert.deepEqual([report.imported, report.refusedLines, report.warnings], [lines.length, {}, warnings]);
    }
    const stored = await accounts.listAccounts(db, undefined, 100);
    assert.deepEqual(
      stored.map(({ canonicalEmail }) => canonicalEmail).toSorted(),
      [...'abcde', ...cases.map((_, index) => `user${index}`)].map((name) => `${name}@example.com`).toSorted(),
    );
    const createdAt = async (index: number) =>
      (await accounts.findCredentials(db, `user${index}@example.com`))?.createdAt;
    const may = Date.UTC(2024, 4, 1, 9, 30);
    assert.deepEqual([await createdAt(0), await createdAt(1), await createdAt(2)], [may, may, now]);
    for (const [name, hasPassword] of [
      ['user5', false],
      ['user11', true],
    ] as const)
      assert.equal((await accounts.findCredentials(db, `${name}@example.com`))?.passwordHash !== '', hasPassword);
  },
);

onEachDatabase('keys of one name get numbers, and other names become nicknames', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const account = await addAccount(db, 'ada');
  const family = `${'y'.repeat(57)}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}`;
  const names = ['default', 'default', undefined, ' ci\t', 'x'.repeat(300), 7, 'a\u0000b', '\u200B', family, family];
  const lines = names.map((nickname, index) => ({ account, nickname, hash: sha256(`sk_${index}`) }));
  const more = { keysPerAccountMax: 100 };
  for (const isDryRun of [true, false]) {
    const { imported, refusedLines, warnings } = await importKeys(db, lines, { ...more, isDryRun });
    assert.deepEqual(
      [imported, refusedLines, warnings.map(({ lines: count }) => count)],
      [names.length, {}, [4, 1, 4]],
    );
  }
  const expected = [
    'default',
    'default (2)',
    'default (3)',
    'ci',
    'x'.repeat(limits.nicknameCodePointsMax),
    '7',
    'a b',
    'default (4)',
    family,
    `${'y'.repeat(57)} (2)`,
  ];
  const states = await findKeyStates(
    db,
    lines.map((_, index) => keys.apiKeyHash.stored(`sk_${index}`)),
  );
  assert.deepEqual(
    states.map((state) => state?.nickname),
    expected,
  );
  assert.equal((await importKeys(db, lines, more)).existing, names.length);
  assert.equal((await listAccountKeys(db, account)).length, names.length);
});

onEachDatabase(
  'keys in clear text are hashed with --plain-keys, unless no verification would accept them',
  async ({ db }) => {
    await claimInstallation(db, keys.check, now);
    const account = await addAccount(db, 'ada');
    const never = [
      'eyJhbGciOiJub25lIn0',
      'krvr_1',
      'krvc_1',
      'krvs_1',
      `krv_${'a'.repeat(49)}`,
      `krvt_${'a'.repeat(49)}`,
      'a b',
      'a,b',
      '',
      'x'.repeat(limits.importedKeyCharsMax + 1),
    ];
    const lines = ['sk_live_1', ...never].map((key) => ({ account, nickname: 'default', key }));
    const more = { hasPlainKeys: true, keyPrefixes: ['krv'] };
    const { imported, refusedLines } = await importKeys(db, lines, more);
    const reason = 'no verification accepts a key of this form; replace it';
    assert.deepEqual([imported, refusedLines], [1, Object.fromEntries(never.map((_, index) => [index + 2, reason]))]);
    const [state] = await findKeyStates(db, [keys.apiKeyHash.stored('sk_live_1')]);
    assert.equal(state?.accountId, account);
    assert.ok(!JSON.stringify(await listAuditEvents(db)).includes('sk_live_1'));
  },
);

onEachDatabase('the owner of a key can be named by the old id of the account', async ({ db }) => {
  await claimInstallation(db, keys.check, now);
  const account = await addAccount(db, 'ada');
  const line = (owner: string) => ({ account: owner, nickname: owner, hash: sha256(owner) });
  const { imported, refusedLines } = await importKeys(db, [line('17'), line('18'), line(' Ada@example.com ')], {
    accountIds: new Map([['17', account]]),
  });
  assert.deepEqual([imported, refusedLines], [2, { 2: 'there is no such account' }]);
});

onEachDatabase(
  'the secret of an authenticator app is imported: a sign-in needs its codes, and none that came before',
  async ({ db }) => {
    const secret = 'JBSWY3DPEHPK3PXP';
    const uri = (parameters: string) => `otpauth://totp/Old:ada?secret=${secret}${parameters}`;
    const good = [
      secret,
      'jbsw y3dp-ehpk 3pxp',
      `${secret}======`,
      uri('&issuer=Old'),
      uri('&algorithm=SHA1&digits=6&period=30'),
    ];
    const bad = [
      '',
      'JBSWY3DP',
      'JBSWY3DPEHPK3PX1',
      uri('&digits=8'),
      uri('&algorithm=SHA256'),
      uri('&period=60'),
      'otpauth://hotp/Old?secret=JBSWY3DPEHPK3PXP',
      'JBSWY3DPEHPK3PXP'.repeat(9),
    ];
    const lines = [...good, ...bad].map((totpSecret, index) => ({ email: `user${index}@example.com`, totpSecret }));
    const { imported, refusedLines } = await importAccounts(db, lines);
    const reason = 'totpSecret is not one in base32, for TOTP with SHA-1, 6 digits and 30 seconds';
    const refused = bad.map((_, index) => [good.length + index + 1, reason] as const);
    assert.deepEqual([imported, refusedLines], [good.length, Object.fromEntries(refused)]);
    for (const [index] of good.entries()) {
      const { id } = (await accounts.findCredentials(db, `user${index}@example.com`)) ?? assert.fail();
      const factor = (await factors.findFactor(db, id)) ?? assert.fail();
      const opened = keys.secondFactorSeal.open(id, factor.secret ?? assert.fail());
      assert.deepEqual([opened, factor.kind, factor.confirmedAt], [secret, 'totp', clock.now()]);
      assert.equal(factor.lastStep, Math.floor(clock.now() / 30_000));
      assert.equal(stepOf(opened, '000000', clock.now()), undefined);
    }
    const added = (await listAuditEvents(db)).filter(({ action }) => action === 'second_factor.added');
    assert.deepEqual(
      added.map(({ details }) => details),
      good.map(() => '{"imported":"totp"}'),
    );
    assert.ok(!JSON.stringify(await listAuditEvents(db)).includes(secret));
  },
);

onEachDatabase(
  'a rejected record is named by its line, and by its number if an earlier record begins in that line',
  async ({ db }) => {
    const file = Buffer.from(
      '[{"email":"a"},{"email":"b@example.com"},{"email":"c"},\n{"email":"d"},{"email":"b@example.com"}]',
    );
    const importer = accountImporter(operator, {
      db,
      clock,
      revocations: undefined,
      hasher,
      isDryRun: true,
      onExisting: 'skip',
    });
    const refused: object[] = [];
    const listener = { refused: async (line: object) => void refused.push(line), progress: () => undefined };
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield file;
    };
    await runImport(source(), importer, listener, accountFormats.json());
    const reason = 'email is not an email address';
    assert.deepEqual(refused, [
      { line: 1, reason },
      { line: 1, record: 3, reason },
      { line: 2, reason },
      { line: 2, record: 5, reason: 'line 1 has the same email' },
    ]);
  },
);
