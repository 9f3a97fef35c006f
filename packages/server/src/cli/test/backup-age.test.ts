/** `keyreeve doctor` reports backups that fail, for an installation without alerts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { runProgram } from '../../../test/e2e/program.ts';
import { dayMs, systemClock } from '../../foundation/clock.ts';
import { recordBackup } from '../../foundation/database/installation.ts';

test('doctor and the alert KeyreeveBackupOld have the same threshold', () => {
  const rules = readFileSync(new URL('../../../../../ops/prometheus/rules.yml', import.meta.url), 'utf8');
  assert.match(rules, /time\(\) - max\(keyreeve_backup_last_success_timestamp_seconds\) > 2 \* 86400$/m);
});

test('doctor warns about a last backup of more than two days ago', async () => {
  await using app = await newApp();
  using folder = newTempFolder();
  const findings = async (): Promise<unknown[]> => {
    const { stdout } = await runProgram(['doctor', '--json'], {
      folder: folder.path,
      environment: app.place.environment,
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; detail: string }[] };
    return checks.filter(({ name }) => name === 'backup').map(({ state, detail }) => [state, detail]);
  };
  assert.deepEqual(await findings(), []);
  const old = systemClock.now() - 2 * dayMs - 1;
  await recordBackup(app.db, old);
  assert.deepEqual(await findings(), [
    [
      'warning',
      `the last one was made at ${new Date(old).toISOString()}, more than 2 days ago; run \`keyreeve backup\`, and read the log of the nightly run`,
    ],
  ]);
  await recordBackup(app.db, systemClock.now());
  assert.deepEqual(await findings(), []);
});
