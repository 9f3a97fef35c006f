/**
 * The runs with limits detect broken builds. Two run here; `KEYREEVE_TEST_MUTANTS=all` runs all.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { after, before, test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Cluster } from '../revocation-check/cluster.ts';
import { applyEdits, makeCopy, serverOptions } from '../revocation-check/mutant-run.ts';
import { findUndeclaredNames } from '../revocation-check/undeclared-names.ts';
import { limitMutants } from './limit-mutants.ts';
import { runLimits } from './limit-run.ts';
import { shiftedClocks } from './shifted-clocks.ts';

const source = new URL('../../src/', import.meta.url);
const selected = [
  'the clock of the process instead of the clock of the database',
  'a draw of unknown outcome that is treated as not drawn',
];
const isAll = process.env['KEYREEVE_TEST_MUTANTS'] === 'all';

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

for (const { name, edits } of limitMutants) {
  test(`the edits of a broken build fit the sources: ${name}`, () => {
    const files = applyEdits(edits, (file) => readFileSync(new URL(file, source), 'utf8'));
    for (const text of files.values()) stripTypeScriptTypes(text);
  });
}

test('the edits of a broken build use only declared names', () => {
  assert.deepEqual(findUndeclaredNames(limitMutants), []);
});

for (const { name, edits, faults } of limitMutants.filter((mutant) => isAll || selected.includes(mutant.name))) {
  test(`a run with limits detects ${name}`, async (t) => {
    using folder = newTempFolder();
    const bin = makeCopy(folder.path, edits);
    await using cluster = await Cluster.start({ instances: 2, postgres, bin, environmentOf: shiftedClocks });
    const report = await runLimits(cluster, { quota: 300, connections: 16, pauseMs: 200, faults });
    t.diagnostic(report.violations.join('; '));
    assert.ok(report.violations.length > 0, JSON.stringify(report));
  });
}
