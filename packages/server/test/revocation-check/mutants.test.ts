/**
 * The proof notices what it is there for: builds that break the promise are caught, and the program itself is not. Those
 * that fail in different places run here; `npm run prove -- --mutants` runs all.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { faults } from './faults.ts';
import { applyEdits, runMutant, serverOptions } from './mutant-run.ts';
import { mutants } from './mutants.ts';

const source = new URL('../../src/', import.meta.url);
/** The creation, the caller, the reader, the driver, the deletion, and the embedded database. */
const here = [
  'keys that were created over HTTP, remembered for 2 s',
  'the key of a caller of /auth/verify, remembered for 5 s',
  'a reader whose questions join a read that is already under way',
  'reads from a replica that lags by up to 100 ms',
  'a deletion of unknown outcome that is answered with success',
  'acknowledged commits that a crash may lose',
  'embedded: a deletion that is answered before the commit that gathers others for 100 ms',
];

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

for (const { name, edits } of mutants) {
  test(`it can still be built: ${name}`, () => {
    const files = applyEdits(edits, (file) => readFileSync(new URL(file, source), 'utf8'));
    assert.ok(files.size > 0);
  });
}

for (const name of here) {
  test(`it is caught: ${name}`, async () => {
    const mutant = mutants.find((one) => one.name === name);
    assert.ok(mutant);
    const report = await runMutant(mutant, postgres);
    assert.ok(report.violations > 0 && report.examples.length > 0, JSON.stringify(report));
  });
}

test('the program itself passes where these fail', async () => {
  const { slow, cutBefore, crashed } = faults;
  const report = await runMutant({ name: 'none', edits: [], faults: [slow, cutBefore, crashed] }, postgres);
  assert.deepEqual(report.examples, []);
  assert.ok(report.deletions.acknowledged >= 8 && report.verifications.afterRevocation > 100, JSON.stringify(report));
});
