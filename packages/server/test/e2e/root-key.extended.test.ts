/** `keyreeve root-key rotate` that is killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LateAuditKey } from '../../src/foundation/database/late-audit-key.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import type { Db } from '../../src/foundation/database/db.ts';
import { newestRootKeyVersion } from '../../src/foundation/database/root-keys.ts';
import { until } from '../../test-kit/until.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { running, succeeds } from './master-key-kit.ts';
import { bearer, databaseIn, environmentFor, keyreeveBin, startProgram } from './program.ts';

/** By step: whether the command has reached it. */
const steps: Readonly<Record<string, (journal: string, db: Db) => Promise<boolean>>> = {
  'before its commit': (journal) => Promise.resolve(readdirSync(journal).some((name) => name.endsWith('.list'))),
  'after its commit': async (_, db) => (await newestRootKeyVersion(db)) === 2,
};

async function untilReached(step: string, folder: string, isReached: (db: Db) => Promise<boolean>): Promise<void> {
  const db = await openDatabase({ kind: 'sqlite', path: databaseIn(folder) }, new LateAuditKey());
  try {
    await until(step, () => isReached(db));
  } finally {
    await db.close();
  }
}

for (const [step, isReached] of Object.entries(steps)) {
  test(`a rotation that is killed ${step} has changed all or nothing`, async () => {
    using folder = newTempFolder();
    const journal = join(folder.path, 'deletions');
    const environment = { KEYREEVE_DELETION_JOURNAL: journal };
    const run = running(folder.path, environment);
    let key = '';
    {
      await using program = await startProgram(folder.path, environment);
      ({ key } = await program.newKey());
      assert.equal((await program.stop()).status, 0);
    }
    const child = spawn(process.execPath, [keyreeveBin, 'root-key', 'rotate', '--yes'], {
      cwd: folder.path,
      env: environmentFor(folder.path, environment),
      stdio: 'ignore',
      detached: true,
    });
    const exited = once(child, 'exit');
    try {
      await untilReached(step, folder.path, async (db) => child.exitCode !== null || (await isReached(journal, db)));
    } finally {
      // The launcher and the program that it has started.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await exited;
    }
    await succeeds(run('audit verify'));
    assert.match(await succeeds(run('doctor')), /^root key +ok +version [12],/m);
    {
      await using program = await startProgram(folder.path, environment);
      assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
      assert.equal((await program.stop()).status, 0);
    }
    const printed = await succeeds(run('root-key rotate --yes --json'));
    assert.ok([2, 3].includes((JSON.parse(printed) as { version: number }).version));
    await succeeds(run('audit verify'));
  });
}
