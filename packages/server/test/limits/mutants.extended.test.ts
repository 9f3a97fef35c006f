/** The runs with limits detect broken builds. Two run here; `KEYREEVE_TEST_MUTANTS=all` runs all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { Cluster } from '../revocation-check/cluster.ts';
import { makeBuiltCopy } from '../revocation-check/mutant-run.ts';
import { limitMutants } from './limit-mutants.ts';
import { runLimits } from './limit-run.ts';
import { shiftedClocks } from './shifted-clocks.ts';

const selected = [
  'the clock of the process instead of the clock of the database',
  'a draw of unknown outcome that is treated as not drawn',
];
const isAll = process.env['KEYREEVE_TEST_MUTANTS'] === 'all';
const run = limitMutants.filter(({ name }) => isAll || selected.includes(name));
assert.ok(run.length >= selected.length);

for (const { name, edits, faults } of run) {
  test(`a run with limits detects ${name}`, async (t) => {
    using folder = newTempFolder();
    const copy = makeBuiltCopy(folder.path, edits);
    const postgres = await sharedPostgres();
    await using cluster = await Cluster.start({ instances: 2, postgres, ...copy, environmentOf: shiftedClocks });
    const report = await runLimits(cluster, { quota: 300, connections: 16, pauseMs: 200, faults });
    t.diagnostic(report.violations.join('; '));
    assert.ok(report.violations.length > 0, JSON.stringify(report));
  });
}
