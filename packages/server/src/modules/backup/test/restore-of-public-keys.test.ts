/** A restore to the state before a rotation of a public key. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { newKeyPair, signJwt, type KeyPair } from '../../../../test-kit/public-key-client.ts';
import { addAccount, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, later, newBackupFolder, restore } from './backup-kit.ts';

const issuer = 'http://localhost';

const wireTo = (db: Db, folder: string, at: number): Services =>
  wireOn(db, { config: { ...testConfig(), deletionJournal: folder }, clock: new FakeClock(at), issuer });

/** @returns the secret, or the code of the error */
function exchangeIn({ exchange }: Services, pair: KeyPair, keyId: number, at: number): Promise<unknown> {
  const kid = String(keyId);
  const iat = Math.floor(at / 1_000);
  const claims = { iss: kid, sub: kid, aud: issuer, iat, exp: iat + 60, jti: randomUUID() };
  const assertion = signJwt(pair, { alg: pair.alg, kid }, claims);
  return exchange.exchange(assertion, '127.0.0.1').then(({ secret }) => secret.reveal(), codeOf);
}

onEachDatabase('after a restore, a public key that was replaced since the backup issues no secrets', async ({ db }) => {
  using temp = newBackupFolder();
  const services = wireTo(db, temp.folder, now + 20_000);
  await addAccount(db, 'ada');
  const [first, second] = [newKeyPair(), newKeyPair()];
  const { apiKeys } = services;
  const { id } = await apiKeys.createWithIdentity(
    operator,
    'acc_ada',
    { nickname: 'a' },
    { publicKey: first.publicKey },
  );
  const { id: keptId } = await apiKeys.createWithIdentity(
    operator,
    'acc_ada',
    { nickname: 'b' },
    { publicKey: first.publicKey },
  );
  const secret = String(await exchangeIn(services, first, id, now + 20_000));
  assert.match(secret, /^krvt_/);
  await backUp(db, temp.backup);
  const rotation = { overlapSeconds: 0, endPrevious: true, publicKey: second.publicKey } as const;
  await services.keyChanges.rotateIdentity(operator, 'acc_ada', id, rotation);
  assert.equal(await exchangeIn(services, first, id, now + 20_000), 'invalid_grant');

  await using fresh = await databases[db.dialect]!();
  const restored = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder], acceptsRevival: true });
  assert.deepEqual(restored.replayed, { ...nothingReplayed, apiKeysDisabled: 1 });
  const after = wireTo(fresh.db, join(temp.path, 'next'), later);
  const outcomeOf = async (pair: KeyPair, keyId: number): Promise<string> =>
    String(await exchangeIn(after, pair, keyId, later)).slice(0, 4);
  assert.equal((await after.keyChanges.read('acc_ada', id)).disabledReason, 'restore');
  assert.equal(await exchangeIn(after, first, id, later), 'invalid_grant');
  assert.equal(await exchangeIn(after, second, id, later), 'invalid_grant');
  assert.equal(await outcomeOf(first, keptId), 'krvt', 'another key with the same public key');
  const result = await after.verifier.verify(secret);
  assert.equal(result.valid || result.code, 'not_found', 'the backup has no short-lived secrets');
  // The owner rotates again before enabling the key.
  await after.keyChanges.rotateIdentity(operator, 'acc_ada', id, rotation);
  await after.keyChanges.change(operator, 'acc_ada', id, { disabled: false });
  assert.equal(await exchangeIn(after, first, id, later), 'invalid_grant');
  assert.equal(await outcomeOf(second, id), 'krvt');
});
