/**
 * The revocation check detects broken builds, and the program itself passes. Builds with mistakes in different modules run here;
 * `npm run prove -- --mutants` runs all.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { faults } from './faults.ts';
import { runMutant, serverOptions } from './mutant-run.ts';
import { mutants } from './mutants.ts';

/**
 * Mistakes in creation, authentication of callers, short path, reader, driver, deletion, the embedded database,
 * changes of keys, issuers, programs, portal sessions, and the scope catalogue.
 */
const selected = [
  'a cache of 2 s that the creation of a key over HTTP fills',
  'a cache of callers, of 5 s',
  'a cache of 2 s in the short path of connections that stay open',
  'a coalescing reader whose lookups join a read in progress',
  'reads from a replica that lags by up to 100 ms',
  'a deletion with an unknown outcome that returns success',
  'acknowledged commits that a crash may lose',
  'a deletion whose response precedes a group commit of 100 ms (embedded)',
  'a verifier that keeps its results for 2 s',
  'a verifier that keeps the scopes that the catalogue withholds from a key, for 2 s',
  'a change of a key whose response precedes a group commit of 100 ms (embedded)',
  'a report of a leak whose response precedes a group commit of 100 ms (embedded)',
  'a cache of previous secrets, of 2 s, that a deletion of the key does not clear',
  'a short-lived secret that stays valid after the end of the public key that issued it',
  'a removal of an issuer that leaves its secrets',
  'a secret whose issuer has been narrowed between the verification of its token and the insert',
  'a token that two instances may use once each',
  'a poll that does not read the request again under its lock',
  'a removal of a program that deletes its keys first',
  'a cache of portal sessions, of 2 s',
  'an end of a portal session that is only recorded',
  'a client IP that is the leftmost entry of X-Forwarded-For',
  'a cache of the scopes that the catalogue withholds from a key, of 2 s',
  'a removal of an entitlement whose response precedes a group commit of 100 ms (embedded)',
];

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

for (const name of selected) {
  test(`the revocation check detects ${name}`, async () => {
    const mutant = mutants.find((one) => one.name === name);
    assert.ok(mutant);
    const report = await runMutant(mutant, postgres);
    assert.ok(report.violations > 0 && report.examples.length > 0, JSON.stringify(report));
  });
}

test('the program itself passes with the same faults', async () => {
  const { slow, cutBefore, databaseCrashed } = faults;
  const report = await runMutant({ name: 'none', edits: [], faults: [slow, cutBefore, databaseCrashed] }, postgres);
  assert.deepEqual(report.examples, []);
  assert.ok(report.deletions.acknowledged >= 8 && report.verifications.afterRevocation > 100, JSON.stringify(report));
});
