/** One-time codes: each works once, for its own purpose, until it expires. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneTimeCode, makeOneTimeCode } from '../code-format.ts';
import { OneTimeCodes } from '../one-time-codes.ts';
import * as store from '../store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, keys, now } from '../../../../test-kit/rows.ts';

const codes = new OneTimeCodes(keys.oneTimeCodeHash);
const expiresAt = now + 1_000;

const purposes: readonly store.CodePurpose[] = [
  'verify_email',
  'reset_password',
  'change_email',
  'accept_invitation',
  'first_administrator',
];

/** @returns the hash of the new code */
async function add(db: Db, more: Partial<store.NewCode> = {}): Promise<Buffer> {
  const { hash } = codes.make();
  await db.transaction((tx) =>
    store.insertCodeTx(tx, { hash, purpose: 'reset_password', accountId: null, now, expiresAt, ...more }),
  );
  return hash;
}

const take = (db: Db, hash: Buffer, purpose: store.CodePurpose = 'reset_password', at = now) =>
  db.transaction((tx) => store.redeemCodeTx(tx, hash, purpose, at));

onEachDatabase('taking a code returns the values it was created with, once', async ({ db }) => {
  const accountId = await addAccount(db);
  const email = { email: 'New@Example.com', canonicalEmail: 'new@example.com' };
  const hash = await add(db, { purpose: 'change_email', accountId, email, passwordHash: 'phc', target: '7' });
  const row = {
    accountId,
    email: 'New@Example.com',
    canonicalEmail: 'new@example.com',
    passwordHash: 'phc',
    target: '7',
    createdAt: now,
    expiresAt: now + 1_000,
  };
  assert.deepEqual({ ...(await store.findCode(db, hash, 'change_email', now)) }, row);
  assert.deepEqual({ ...(await take(db, hash, 'change_email')) }, row);
  assert.equal(await take(db, hash, 'change_email'), undefined);
  assert.equal(await store.findCode(db, hash, 'change_email', now), undefined);
});

onEachDatabase('one of many concurrent uses of a code takes it', { tags: ['asvs:6.5.1'] }, async (opened) => {
  const hash = await add(opened.db);
  const taken = await raceToValues(opened, rivalsMin * 2, (db) => take(db, hash));
  assert.equal(taken.filter((row) => row !== undefined).length, 1);
});

onEachDatabase('a code still works after the transaction that took it is rolled back', async ({ db }) => {
  const hash = await add(db);
  const failed = db.transaction(async (tx) => {
    await store.redeemCodeTx(tx, hash, 'reset_password', now);
    throw new Error('the rest failed');
  });
  await assert.rejects(failed, /the rest failed/);
  assert.notEqual(await take(db, hash), undefined);
});

onEachDatabase('a code is not found for another purpose, and still works for its own', async ({ db }) => {
  for (const purpose of purposes) {
    const hash = await add(db, { purpose });
    for (const other of purposes.filter((candidate) => candidate !== purpose)) {
      assert.equal(await take(db, hash, other), undefined, `${purpose} as ${other}`);
      assert.equal(await store.findCode(db, hash, other, now), undefined);
    }
    assert.notEqual(await take(db, hash, purpose), undefined);
  }
});

onEachDatabase('a code works until the last millisecond before it expires', async ({ db }) => {
  const hash = await add(db);
  assert.equal(await take(db, hash, 'reset_password', expiresAt), undefined);
  assert.notEqual(await store.findCode(db, hash, 'reset_password', expiresAt - 1), undefined);
  assert.notEqual(await take(db, hash, 'reset_password', expiresAt - 1), undefined);
});

onEachDatabase('a code is not found under another hash key', { tags: ['asvs:6.5.2'] }, async ({ db }) => {
  const text = makeOneTimeCode();
  const hash = codes.hashOf(text.reveal()) ?? Buffer.of();
  await db.transaction((tx) =>
    store.insertCodeTx(tx, { hash, purpose: 'reset_password', accountId: null, now, expiresAt }),
  );
  const foreign =
    new OneTimeCodes(deriveKeys(Buffer.alloc(32, 8)).oneTimeCodeHash).hashOf(text.reveal()) ?? Buffer.of();
  assert.equal(await take(db, foreign), undefined);
  assert.notEqual(await take(db, hash), undefined);
});

onEachDatabase('no code is created for a deleted account', async ({ db }) => {
  const hash = await add(db, { accountId: 'acc_deleted' });
  assert.equal(await take(db, hash), undefined);
});

onEachDatabase('codes are deleted by account, by account and purpose, or when they expire', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  const [reset, verify, foreign, expired] = [
    await add(db, { accountId: ada }),
    await add(db, { accountId: ada, purpose: 'verify_email' }),
    await add(db, { accountId: bob }),
    await add(db, { accountId: bob, purpose: 'verify_email', expiresAt: now }),
  ];
  const isThere = async (hash: Buffer, purpose: store.CodePurpose): Promise<boolean> =>
    (await store.findCode(db, hash, purpose, now - 1)) !== undefined;
  assert.equal(await store.deleteExpiredCodes(db, now - 1, 10), 0);
  assert.equal(await store.deleteExpiredCodes(db, now, 10), 1);
  assert.equal(await isThere(expired, 'verify_email'), false);
  await db.transaction((tx) => store.deleteCodesTx(tx, ada, 'reset_password'));
  assert.deepEqual([await isThere(reset, 'reset_password'), await isThere(verify, 'verify_email')], [false, true]);
  await db.transaction((tx) => store.deleteCodesTx(tx, ada));
  assert.equal(await isThere(verify, 'verify_email'), false);
  assert.equal(await isThere(foreign, 'reset_password'), true);
});

test(
  'a code is 256 random bits and a checksum; a truncated, longer or changed one is not a code',
  { tags: ['asvs:6.4.1', 'asvs:6.5.4', 'asvs:6.6.3'] },
  () => {
    const text = makeOneTimeCode().reveal();
    assert.match(text, /^krvc_[0-9A-Za-z]{49}$/);
    assert.notEqual(makeOneTimeCode().reveal(), text);
    assert.ok(isOneTimeCode(text));
    for (let length = 0; length < text.length; length++) assert.equal(isOneTimeCode(text.slice(0, length)), false);
    for (let index = 0; index < text.length; index++) {
      const changed = `${text.slice(0, index)}${text[index] === 'x' ? 'y' : 'x'}${text.slice(index + 1)}`;
      assert.equal(isOneTimeCode(changed), false, `changed at ${index}`);
    }
    for (const wrong of [`${text}0`, ` ${text}`, `${text}\n`, text.toUpperCase(), text.replace('krvc_', 'krvr_')]) {
      assert.equal(isOneTimeCode(wrong), false, wrong);
      assert.equal(codes.hashOf(wrong), undefined);
    }
  },
);

test('a code does not appear in strings or JSON', () => {
  const { text } = codes.make();
  assert.equal(`${String(text)} ${JSON.stringify({ text })}`.includes('krvc_'), false);
});
