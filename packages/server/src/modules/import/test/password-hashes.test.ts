/** The password hashes of an import: fast ones on request or wrapped, a pepper of Devise, and warnings. */
import assert from 'node:assert/strict';
import * as accountStore from '../../accounts/store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { limits } from '@keyreeve/contract';
import { PasswordHasher } from '../../../foundation/crypto/password.ts';
import { fastVectors } from '../../../foundation/crypto/test/product-hash-vectors.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { accountImporter, type AccountImportOptions } from '../accounts.ts';
import { runImport } from '../run-import.ts';

const hasher = new PasswordHasher(keys.passwordPeppers, { memoryKib: 64, passes: 1, lanes: 1 });

/** @returns the counts, the reasons of rejections, and the sentences for the operator */
async function importHashes(
  db: Db,
  hashes: readonly string[],
  more: Partial<AccountImportOptions> = {},
): Promise<{ imported: number; existing: number; reasons: string[]; notes: readonly string[] }> {
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (const [index, passwordHash] of hashes.entries())
      yield Buffer.from(`${JSON.stringify({ email: `user${index}@example.com`, passwordHash })}\n`);
  };
  const options = {
    db,
    clock: new FakeClock(now),
    revocations: undefined,
    hasher,
    isDryRun: false,
    onExisting: 'skip',
    ...more,
  } as const;
  const importer = accountImporter(operator, options);
  const reasons: string[] = [];
  const listener = { refused: async ({ reason }: { reason: string }) => void reasons.push(reason), progress: () => {} };
  const { imported, existing } = await runImport(source(), importer, listener);
  return { imported, existing, reasons, notes: (await importer.notes?.()) ?? [] };
}

const storedOf = async (db: Db, index: number): Promise<string> =>
  (await accountStore.findCredentials(db, `user${index}@example.com`))?.passwordHash ?? '';

onEachDatabase('fast hashes are imported only on request, and wrapped in Argon2id on request', async ({ db }) => {
  const [first, second] = fastVectors;
  assert.ok(first && second);
  const refused = await importHashes(db, [first.hash, second.hash]);
  assert.equal(refused.imported, 0);
  assert.match(
    refused.reasons[0] ?? '',
    /^passwordHash can’t be used: it is a fast hash \(md5-crypt\); --accept-weak /,
  );

  const accepted = await importHashes(db, [first.hash], { passwordHashes: { acceptsFast: true } });
  assert.deepEqual(accepted, { imported: 1, existing: 0, reasons: [], notes: [] });
  const stored = await storedOf(db, 0);
  assert.match(stored, /^\$imported\$md5-crypt\$i=1000,l=16,keyid=/);

  // A dry run wraps nothing. The account that exists keeps its hash.
  const passwordHashes = { wrapsFast: true };
  const { hashed } = hasher.stats;
  const dryRun = await importHashes(db, [first.hash, second.hash], { passwordHashes, isDryRun: true });
  assert.deepEqual(dryRun, { imported: 1, existing: 1, reasons: [], notes: [] });
  assert.equal(hasher.stats.hashed, hashed);
  const wrapped = await importHashes(db, [first.hash, second.hash], { passwordHashes });
  assert.equal(hasher.stats.hashed, hashed + 1);
  assert.deepEqual({ ...wrapped, notes: [] }, { imported: 1, existing: 1, reasons: [], notes: [] });
  assert.match(wrapped.notes[0] ?? '', /^Wrapped 1 fast hash in Argon2id in \d+\.\d s: \d+\.\d a second\.$/);
  assert.equal(await storedOf(db, 0), stored);
  assert.match(await storedOf(db, 1), /^\$imported\$wrapped-apr1\$i=1000,m=64,t=1,p=1,l=16,keyid=/);
  assert.equal(await hasher.verify(second.password, await storedOf(db, 1)), true);
});

onEachDatabase('the pepper of Devise applies to the bcrypt hashes of an import', async ({ db }) => {
  const passwordHashes = { bcryptSuffix: 'a-pepper-of-the-app' };
  await importHashes(db, ['$2a$04$OpsgGwptYTGoDSI0q56/Mem7nt2OHZSKKTNEdDyLxS.SeHqBQBNfa'], { passwordHashes });
  assert.equal(await hasher.verify('wombat orbit velvet 42', await storedOf(db, 0)), true);
  assert.ok(!(await storedOf(db, 0)).includes(passwordHashes.bcryptSuffix));
});

const pbkdf2 = (rounds: number): string => `pbkdf2:sha256:${rounds}$salt$${'ab'.repeat(32)}`;
const bcrypt = (cost: number): string => `$2b$${cost}$${'A'.repeat(53)}`;

onEachDatabase('kinds whose equal work is beyond the bound get a warning with the figure', async ({ db }) => {
  const warning =
    'Warning: response times of sign-ins can reveal accounts with imported hashes of bcrypt. Equal work for all kinds would ' +
    'take 1.7 times the bound of one to two seconds for each sign-in.';
  // Kinds of one algorithm are padded to the costliest.
  assert.deepEqual((await importHashes(db, [720_000, 870_000, 1_000_000].map(pbkdf2))).notes, []);
  // With the hashes that are in the database already, also in a dry run.
  assert.deepEqual((await importHashes(db, [bcrypt(14)], { isDryRun: true })).notes, [warning]);
  assert.deepEqual((await importHashes(db, [pbkdf2(1), pbkdf2(1), pbkdf2(1), bcrypt(14)])).notes, [warning]);
});

onEachDatabase('more kinds than a sign-in takes into account get a warning', async ({ db }) => {
  const kinds = Array.from({ length: limits.importedRecipesMax + 1 }, (_, index) => pbkdf2(1_000 + index));
  assert.deepEqual((await importHashes(db, kinds.slice(1))).notes, []);
  const { notes } = await importHashes(db, kinds.toReversed());
  assert.deepEqual(notes, [
    `Warning: the database has more than ${limits.importedRecipesMax} kinds of imported hashes. Response times of sign-ins ` +
      'can reveal accounts with the others.',
  ]);
});
