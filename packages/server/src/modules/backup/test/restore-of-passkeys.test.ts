/** Passkeys and authenticator apps that were removed after a backup stay removed after a restore; others stay. */
import assert from 'node:assert/strict';
import type { AccountPrincipal } from '../../../foundation/principal.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import * as changes from '../../passkeys/change-store.ts';
import { listPasskeys } from '../../passkeys/store.ts';
import * as enrolment from '../../second-factors/enrolment-store.ts';
import { acceptStepTx, countRecoveryCodesTx, findFactor } from '../../second-factors/store.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addSession, hashOf, keys, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { backUp, journalIn, newBackupFolder, restore } from './backup-kit.ts';

const since = now + 10;
const names = ['one_of_two', 'last', 'app', 'untouched'];
const principalOf = (name: string): AccountPrincipal => ({
  kind: 'account',
  accountId: `acc_${name}`,
  sessionId: `ses_${name}`,
});
const mailAbout = (): undefined => undefined;

const addPasskey = (db: Db, name: string, number: number): Promise<boolean> =>
  changes.addPasskey(db, principalOf(name), {
    passkey: {
      id: `pas_${name}_${number}`,
      accountId: `acc_${name}`,
      credentialId: hashOf(`${name} ${number}`),
      publicKey: Buffer.of(1),
      counter: 0,
      rpId: 'localhost',
      transports: '',
      isBackedUp: false,
      name: 'laptop',
      now,
    },
    challenge: { mac: hashOf(`challenge ${name} ${number}`), expiresAt: now },
    codeHashes: [hashOf(`code ${name}`)],
    mail: undefined,
  });

const removePasskey = (db: Db, name: string, number: number): Promise<void> =>
  changes.removePasskey(db, principalOf(name), { id: `pas_${name}_${number}`, mailAbout, now: since });

const countChallenges = sql<{ count: number }>('test_challenges', 'select count(*) as count from used_challenges');

const stateOf = async (db: Db) =>
  Object.fromEntries(
    await Promise.all(
      names.map(async (name) => {
        const id = `acc_${name}`;
        const passkeys = (await listPasskeys(db, id)).map((passkey) => passkey.id);
        return [name, [(await findFactor(db, id))?.kind, passkeys, await countRecoveryCodesTx(db, id)]] as const;
      }),
    ),
  );

onEachDatabase('a restore brings back neither a removed passkey nor a removed authenticator app', async ({ db }) => {
  using temp = newBackupFolder();
  for (const name of names) {
    await addAccount(db, name);
    await addSession(db, `acc_${name}`, name);
    await addPasskey(db, name, 1);
  }
  await addPasskey(db, 'one_of_two', 2);
  const sealed = keys.secondFactorSeal.seal('acc_app', 'SECRET');
  await enrolment.beginEnrolment(db, principalOf('app'), sealed, now);
  const confirmed = { sealed, step: 10, codeHashes: [], mail: undefined, now };
  assert.equal(await enrolment.confirmEnrolment(db, principalOf('app'), confirmed), 'beside');
  await backUp(db, temp.backup);
  await removePasskey(db, 'one_of_two', 1);
  await removePasskey(db, 'last', 1);
  const proof = { kind: 'totp', step: 11 } as const;
  await enrolment.removeOwnFactor(db, principalOf('app'), { proof, mailAbout, now: since });
  const expected = {
    one_of_two: ['passkeys', ['pas_one_of_two_2'], 1],
    last: [undefined, [], 0],
    app: ['passkeys', ['pas_app_1'], 1],
    untouched: ['passkeys', ['pas_untouched_1'], 1],
  };
  assert.deepEqual(await stateOf(db), expected);
  await journalIn(db, temp.folder).catchUp();
  await using fresh = await databases[db.dialect]!();
  const { replayed } = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder] });
  const { passkeysRemoved, authenticatorsRemoved, secondFactorsRemoved } = replayed;
  // The removal of the second factor has already removed the passkey of the account `last`.
  assert.deepEqual(
    { passkeysRemoved, authenticatorsRemoved, secondFactorsRemoved },
    { passkeysRemoved: 1, authenticatorsRemoved: 1, secondFactorsRemoved: 1 },
  );
  assert.deepEqual(await stateOf(fresh.db), expected);
  assert.equal((await findFactor(fresh.db, 'acc_app'))?.secret, null);
  assert.equal((await fresh.db.get(countChallenges))?.count, 0);
});

onEachDatabase('a code that was checked before the app was removed is not accepted after it', async ({ db }) => {
  await addAccount(db, 'app');
  await addSession(db, 'acc_app', 'app');
  await addPasskey(db, 'app', 1);
  const sealed = keys.secondFactorSeal.seal('acc_app', 'SECRET');
  await enrolment.beginEnrolment(db, principalOf('app'), sealed, now);
  const confirmed = { sealed, step: 10, codeHashes: [], mail: undefined, now };
  await enrolment.confirmEnrolment(db, principalOf('app'), confirmed);
  await enrolment.removeOwnFactor(db, principalOf('app'), { proof: { kind: 'totp', step: 11 }, mailAbout, now });
  assert.equal(await db.transaction((tx) => acceptStepTx(tx, 'acc_app', 12, null)), false);
});
