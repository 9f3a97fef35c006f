/** A restore of keys with a trust: fresh identity tokens get secrets, and no earlier one that is accepted once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { limits } from '@keyreeve/contract';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { signJwt } from '../../../../test-kit/public-key-client.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, later, newBackupFolder, restore } from './backup-kit.ts';

const audience = 'http://localhost';
const [once, untilExp] = ['https://once.example.com', 'https://until-exp.example.com'];
const [repository, branch] = [{ sub: '4711' }, { sub: '4711', ref: 'refs/heads/main' }];
const signer = newIssuerKey('ES256');

const wireTo = (db: Db, folder: string, at: number): Services =>
  wireOn(db, { config: { ...testConfig(), deletionJournal: folder }, clock: new FakeClock(at), issuer: audience });

function tokenOf(iss: string, at: number, more: object = {}): string {
  const iat = Math.floor(at / 1_000);
  const claims = { iss, sub: '4711', aud: audience, iat, exp: iat + 600, jti: randomUUID(), ...more };
  return signJwt(signer, { alg: signer.alg, kid: signer.kid }, claims);
}

/** @returns the secret, or the code of the error */
const exchangeIn = ({ tokenExchange }: Services, keyId: number, token: string): Promise<unknown> =>
  tokenExchange
    .exchange({ token, clientId: String(keyId), clientIp: '127.0.0.1' })
    .then(({ secret }) => secret.reveal(), codeOf);

/** Three keys: of the issuer whose tokens are accepted once, another of it whose trust becomes narrower, and of the other issuer. */
async function addKeys({
  apiKeys,
  issuers,
}: Services): Promise<Readonly<Record<'kept' | 'narrowed' | 'lasting', number>>> {
  const jwks = { keys: [signer.jwk] };
  for (const [url, replay] of [
    [once, 'once'],
    [untilExp, 'until-exp'],
  ] as const)
    await issuers.add(operator, null, { url, replay, algorithms: ['ES256'], jwks });
  const add = async (nickname: string, issuer: string): Promise<number> => {
    const trust = { issuer, claims: repository };
    return (await apiKeys.createWithIdentity(operator, 'acc_ada', { nickname }, { trust })).id;
  };
  return {
    kept: await add('kept', once),
    narrowed: await add('narrowed', once),
    lasting: await add('lasting', untilExp),
  };
}

onEachDatabase(
  'after a restore, a key with a trust accepts fresh tokens, none that may have been used, and none of a trust that became narrower',
  async ({ db }) => {
    using temp = newBackupFolder();
    const services = wireTo(db, temp.folder, now + 20_000);
    await claimInstallation(db, keys.check, now);
    await addAccount(db, 'ada');
    const { kept, narrowed, lasting } = await addKeys(services);
    const issued = (issuer: typeof once): string => tokenOf(issuer, now + 20_000);
    const [used, unused, reusable] = [issued(once), issued(once), issued(untilExp)];
    const secret = String(await exchangeIn(services, kept, used));
    assert.match(secret, /^krvt_/);
    await backUp(db, temp.backup);
    const rotation = { overlapSeconds: 0, endPrevious: true, trust: { issuer: once, claims: branch } } as const;
    await services.keyChanges.rotateIdentity(operator, 'acc_ada', narrowed, rotation);

    await using fresh = await databases[db.dialect]!();
    const restored = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder], acceptsRevival: true });
    assert.deepEqual(restored.replayed, { ...nothingReplayed, apiKeysDisabled: 1 });
    const at = later + limits.identityTokenSkewSeconds * 1_000;
    const after = wireTo(fresh.db, join(temp.path, 'next'), at);
    for (const token of [used, unused]) assert.equal(await exchangeIn(after, kept, token), 'invalid_grant');
    const result = await after.verifier.verify(secret);
    assert.equal(result.valid || result.code, 'not_found', 'the backup has no short-lived secrets');
    for (const [keyId, token] of [
      [kept, tokenOf(once, at)],
      [lasting, tokenOf(untilExp, at)],
      [lasting, reusable],
    ] as const) {
      const verified = await after.verifier.verify(String(await exchangeIn(after, keyId, token)));
      assert.deepEqual(
        [verified.valid, verified.valid && verified.type === 'api_key' && verified.keyId],
        [true, keyId],
      );
    }
    // The owner narrows the trust again before enabling the key.
    assert.equal((await after.keyChanges.read('acc_ada', narrowed)).disabledReason, 'restore');
    assert.equal(await exchangeIn(after, narrowed, tokenOf(once, at)), 'invalid_grant');
    await after.keyChanges.rotateIdentity(operator, 'acc_ada', narrowed, rotation);
    await after.keyChanges.change(operator, 'acc_ada', narrowed, { disabled: false });
    assert.equal(await exchangeIn(after, narrowed, tokenOf(once, at)), 'invalid_grant', 'without the claim `ref`');
    assert.match(String(await exchangeIn(after, narrowed, tokenOf(once, at, branch))), /^krvt_/);
  },
);
