/** A backup that a program without passkeys made of a database with them: the accounts keep a second factor that works. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sealLine } from '../../../foundation/sealed-line.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, hashOf, keys, now } from '../../../../test-kit/rows.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { recordAccountEventTx } from '../../audit/audit.ts';
import { insertPasskeyTx } from '../../passkeys/store.ts';
import * as factors from '../../second-factors/store.ts';
import { endMacOf, type BackupRows } from '../format.ts';
import { backUp, journalIn, restore } from './backup-kit.ts';

const names = ['alone', 'app', 'both', 'codeless', 'removed', 'removed_app'];
const system = { kind: 'system' } as const;

/** Converts a backup to the one of a program with the schema before passkeys. */
function asBeforePasskeys(text: string): string {
  const [header = '', ...rest] = text.split('\n').slice(0, -2);
  const lines = [header.replace(/"schema":\d+/, '"schema":11')];
  const counts: Record<string, number> = {};
  for (const line of rest) {
    const { table, rows } = JSON.parse(line) as BackupRows;
    if (table === 'passkeys') continue;
    if (table === 'second_factors') for (const row of rows) for (const name of added) Reflect.deleteProperty(row, name);
    counts[table] = (counts[table] ?? 0) + rows.length;
    lines.push(JSON.stringify({ table, rows }));
  }
  const body = lines.map((line) => `${line}\n`).join('');
  return body + sealLine({ counts }, endMacOf(keys, createHash('sha256').update(body)));
}
const added = ['kind', 'pending_secret', 'pending_at'];

onEachDatabase(
  'a backup without passkeys leaves recovery codes, and no account without second factor',
  async ({ db }) => {
    using temp = newTempFolder();
    const [path, folder] = [join(temp.path, 'backup'), join(temp.path, 'journal')];
    for (const [index, name] of names.entries()) {
      const id = await addAccount(db, name);
      const sealed = keys.secondFactorSeal.seal(id, 'SECRET');
      await db.transaction(async (tx) => {
        if (['app', 'both'].includes(name)) {
          await factors.beginFactorTx(tx, id, sealed, now);
          assert.equal(await factors.confirmFactorTx(tx, id, sealed, 10, now), 'first');
        } else assert.ok(await factors.addFactorOfPasskeysTx(tx, id, sealed, now));
        if (name !== 'codeless') await factors.replaceRecoveryCodesTx(tx, id, [hashOf(name)], now);
        if (name === 'app') return;
        await insertPasskeyTx(tx, {
          id: `pas_${name}`,
          accountId: id,
          credentialId: hashOf(`credential ${index}`),
          publicKey: Buffer.of(1),
          counter: 0,
          rpId: 'localhost',
          transports: '',
          isBackedUp: false,
          name: 'laptop',
          now,
        });
      });
    }
    await backUp(db, path);
    const text = asBeforePasskeys(readFileSync(path, 'utf8'));
    for (const absent of ['"pas_', '"kind":"passkeys"', 'pending_at']) assert.ok(!text.includes(absent), absent);
    writeFileSync(path, text);
    await db.transaction(async (tx) => {
      await factors.removeSecondFactorTx(tx, 'acc_removed');
      await recordAccountEventTx(tx, system, 'second_factor.removed', 'acc_removed', now + 10);
      // An app that was added after the backup.
      await recordAccountEventTx(tx, system, 'authenticator.removed', 'acc_removed_app', now + 10);
    });
    await journalIn(db, folder).catchUp();
    const { withoutPasskeys } = await restore(db, path, { journalFolders: [folder], mayReplace: true });
    assert.deepEqual(withoutPasskeys, ['acc_alone', 'acc_codeless', 'acc_removed_app']);
    const states = await Promise.all(
      names.map(async (name) => {
        const factor = await factors.findFactor(db, `acc_${name}`);
        const works = await factors.hasRecoveryCode(db, `acc_${name}`, hashOf(name));
        return [name, factor?.kind, factor?.confirmedAt === now, works];
      }),
    );
    assert.deepEqual(states, [
      ['alone', 'passkeys', true, true],
      ['app', 'totp', true, true],
      ['both', 'totp', true, true],
      ['codeless', 'passkeys', true, false],
      ['removed', undefined, false, false],
      ['removed_app', 'passkeys', true, true],
    ]);
  },
);
