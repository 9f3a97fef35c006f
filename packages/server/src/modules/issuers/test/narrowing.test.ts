/** A change of an issuer that removes rights ends the short-lived secrets that were issued for its tokens, and no other change does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IssuerChangeBody } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newIdentityIssuer, newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { until } from '../../../../test-kit/until.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { narrowedMembers, settingsOf } from '../issuer.ts';
import { authorities, rowOf, targetOf } from './issuer-kit.ts';

const rsa = newIssuerKey('RS256');
const publicUrl = 'https://keys.example.com';

/** An issuer, a key that trusts it, and two instances, of which the connection of one can break. */
async function fixture(db: Db) {
  const clock = new FakeClock(Math.floor(Date.now() / 1_000) * 1_000);
  const issuer = await newIdentityIssuer({ keys: [rsa], clock, audience: publicUrl });
  const config = { ...testConfig(), issuerTargets: [targetOf(issuer)], issuerAuthorities: authorities };
  const line = new Line();
  const options = { config, clock, issuer: publicUrl };
  const [one, other] = [wireOn(behind(db, line), options), wireOn(db, options)];
  const accountId = await addAccount(db);
  const added = await one.issuers.add(operator, null, {
    url: issuer.url,
    preset: 'gitlab',
    algorithms: ['RS256', 'ES256'],
    listClaims: ['/groups_direct'],
  });
  const trust = { issuer: issuer.url, claims: { project_id: '20' } };
  const { id: keyId } = await one.apiKeys.createWithIdentity(operator, accountId, { nickname: 'a' }, { trust });
  const exchange = async (): Promise<string> => {
    const request = { token: issuer.token('gitlab'), clientId: String(keyId), clientIp: '127.0.0.1' };
    return (await one.tokenExchange.exchange(request)).secret.reveal();
  };
  return {
    one,
    other,
    line,
    issuer,
    added,
    keyId,
    exchange,
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

/** `valid`, the code of the refusal, or that of the error. */
const outcomeOf = ({ verifier }: Services, secret: string): Promise<unknown> =>
  verifier.verify(secret).then((result) => (result.valid ? 'valid' : result.code), codeOf);

const narrowing: Readonly<Record<string, IssuerChangeBody>> = {
  'a removed algorithm': { algorithms: ['RS256'] },
  'a shorter lifetime': { lifetimeSeconds: 3_599 },
  'tokens that are accepted once': { replay: 'once' },
  'a removed id claim': { idClaims: ['/project_id'] },
  'a removed list claim': { listClaims: [] },
  'a fixed JWK set': { jwks: { keys: [rsa.jwk] } },
};
const widening: Readonly<Record<string, IssuerChangeBody>> = {
  'an added algorithm': { algorithms: ['RS256', 'ES256', 'PS256'] },
  'algorithms in another order': { algorithms: ['ES256', 'RS256'] },
  'a longer lifetime': { lifetimeSeconds: 7_200 },
  'an added id claim': { idClaims: ['/project_id', '/namespace_id', '/user_id'] },
  'an added list claim': { listClaims: ['/groups_direct', '/user_identities'] },
  'no change': { replay: 'until-exp', lifetimeSeconds: 3_600, jwks: null },
};

onEachDatabase(
  'a narrowing ends the secrets at once, on every instance, and later tokens follow it',
  async ({ db }) => {
    for (const [what, change] of Object.entries({ ...narrowing, ...widening })) {
      await using at = await fixture(db);
      const { one, other, added } = at;
      const secret = await at.exchange();
      for (const service of [one, other]) assert.equal(await outcomeOf(service, secret), 'valid', what);
      const { version } = await one.issuers.change(operator, { id: added.id }, change);
      const isNarrowing = what in narrowing;
      assert.equal(version, isNarrowing ? 2 : 1, what);
      for (const service of [one, other])
        assert.equal(await outcomeOf(service, secret), isNarrowing ? 'not_found' : 'valid', what);
      // A token of 3,600 s is too long for one of the changes.
      const next = await at.exchange().catch(codeOf);
      if (what === 'a shorter lifetime') assert.equal(next, 'invalid_grant');
      else assert.equal(await outcomeOf(other, String(next)), 'valid', what);
      await other.accounts.revocations.delete(operator, 'acc_ada');
    }
  },
);

test('a fixed JWK set narrows if it lacks a key, or takes the place of a fetched one', () => {
  const before = settingsOf(rowOf({ url: 'https://id.example.com' }, { jwks: JSON.stringify({ keys: [rsa.jwk] }) }));
  const jwksOf = (jwks: typeof before.jwks): string[] => narrowedMembers(before, { ...before, jwks });
  const added = newIssuerKey('ES256').jwk;
  assert.deepEqual(jwksOf({ keys: [added, rsa.jwk] }), []);
  assert.deepEqual(jwksOf({ keys: [added] }), ['jwks']);
  assert.deepEqual(jwksOf(null), ['jwks']);
  assert.deepEqual(narrowedMembers({ ...before, jwks: null }, before), ['jwks']);
});

onEachDatabase('a removal ends the secrets at once, and an issuer that is added later revives none', async ({ db }) => {
  await using at = await fixture(db);
  const { one, other, added, issuer } = at;
  const secret = await at.exchange();
  assert.equal((await one.issuers.find(operator, { id: added.id })).keyCount, 1);
  assert.equal((await one.issuers.remove(operator, { id: added.id })).keyCount, 1);
  for (const service of [one, other]) assert.equal(await outcomeOf(service, secret), 'not_found');
  assert.equal(await at.exchange().catch(codeOf), 'invalid_grant');
  const again = await one.issuers.add(operator, null, { url: issuer.url, preset: 'gitlab' });
  assert.notEqual(again.id, added.id);
  assert.equal(again.keyCount, 0);
  assert.equal(await outcomeOf(one, secret), 'not_found');
  assert.equal(await at.exchange().catch(codeOf), 'invalid_grant');
});

onEachDatabase('the keys of an issuer are fetched again for the next exchange of every instance', async ({ db }) => {
  await using at = await fixture(db);
  const { one, other, added, issuer } = at;
  await at.exchange();
  const leaked = { token: issuer.token('gitlab'), clientId: String(at.keyId), clientIp: '127.0.0.1' };
  const next = issuer.rotate(newIssuerKey('ES256'));
  issuer.remove(rsa);
  assert.deepEqual(await other.issuers.refresh(operator, added.id), { keyIds: [next.kid], failure: null });
  // A replay of the deletion journal would take a later time for a change that replaces a lost narrowing.
  assert.equal((await one.issuers.find(operator, { id: added.id })).updatedAt, added.updatedAt);
  await assert.rejects(one.tokenExchange.exchange(leaked), (error) => codeOf(error) === 'invalid_grant');
  assert.equal(await outcomeOf(other, await at.exchange()), 'valid');
});

for (const state of ['cut before', 'cut after'] as const)
  for (const [what, change] of Object.entries({
    changed: ({ one, added }: Awaited<ReturnType<typeof fixture>>) =>
      one.issuers.change(operator, { id: added.id }, { lifetimeSeconds: 60 }),
    removed: ({ one, added }: Awaited<ReturnType<typeof fixture>>) => one.issuers.remove(operator, { id: added.id }),
  }))
    onEachDatabase(
      `secrets of an issuer are not accepted while the outcome is unknown: ${what}, connection ${state} the commit`,
      async ({ db }) => {
        await using at = await fixture(db);
        const { one, other, line } = at;
        const secret = await at.exchange();
        line.state = state;
        await assert.rejects(change(at), (error) => codeOf(error) === 'unavailable');
        assert.equal(await outcomeOf(one, secret), state === 'cut before' ? 'unavailable' : 'not_found');
        line.state = 'whole';
        await until('the change is finished', async () => (await outcomeOf(other, secret)) === 'not_found');
        assert.notEqual(await outcomeOf(one, secret), 'valid');
        const events = (await listAuditEvents(db)).map(({ action }) => action);
        const action = what === 'removed' ? 'issuer.removed' : 'issuer.updated';
        assert.equal(events.filter((recorded) => recorded === action).length, 1, 'recorded once');
      },
    );

onEachDatabase('a change of unknown outcome is not repeated after a later one', async ({ db }) => {
  await using at = await fixture(db);
  const { one, other, line, added } = at;
  line.state = 'cut before';
  await assert.rejects(one.issuers.change(operator, { id: added.id }, { lifetimeSeconds: 60 }));
  await other.issuers.change(operator, { id: added.id }, { lifetimeSeconds: 7_200 });
  const before = line.commits;
  line.state = 'whole';
  await until('the repetition has ended', () => line.commits > before);
  assert.equal((await other.issuers.find(operator, { id: added.id })).lifetimeSeconds, 7_200);
});

for (const [what, later] of Object.entries({
  'a refresh': ({ other, added }: Awaited<ReturnType<typeof fixture>>) => other.issuers.refresh(operator, added.id),
  'a change of another member': ({ other, added }: Awaited<ReturnType<typeof fixture>>) =>
    other.issuers.change(operator, { id: added.id }, { algorithms: ['RS256', 'ES256', 'PS256'] }),
  'a narrowing of another member': ({ other, added }: Awaited<ReturnType<typeof fixture>>) =>
    other.issuers.change(operator, { id: added.id }, { algorithms: ['RS256'] }),
}))
  onEachDatabase(`${what} does not replace a narrowing of unknown outcome`, async ({ db }) => {
    await using at = await fixture(db);
    const { one, other, line, added } = at;
    const secret = await at.exchange();
    line.state = 'cut before';
    await assert.rejects(one.issuers.change(operator, { id: added.id }, { lifetimeSeconds: 60 }));
    await later(at);
    const before = line.commits;
    line.state = 'whole';
    await until('the repetition has ended', () => line.commits > before);
    assert.equal((await other.issuers.find(operator, { id: added.id })).lifetimeSeconds, 60);
    for (const service of [one, other]) assert.notEqual(await outcomeOf(service, secret), 'valid');
  });

onEachDatabase('of 16 rivals, each narrows the state that the others have left', async ({ db }) => {
  await using at = await fixture(db);
  const { one, other, added } = at;
  const made = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      (index % 2 === 0 ? one : other).issuers.change(operator, { id: added.id }, { lifetimeSeconds: 1_000 + index }),
    ),
  );
  assert.equal(new Set(made.map(({ updatedAt }) => updatedAt)).size, 16, 'each has a time of its own');
  const inOrder = made.toSorted((a, b) => a.updatedAt - b.updatedAt);
  let [before, version] = [settingsOf(rowOf(at.issuer, { ...added })), 1];
  for (const row of inOrder) {
    if (narrowedMembers(before, settingsOf(row)).length > 0) version++;
    assert.equal(row.version, version);
    before = settingsOf(row);
  }
});
