/** `keyreeve root-key rotate` as a program: what an operator runs after a leak, and a kill at its steps. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { running, succeeds } from './master-key-kit.ts';
import { bearer, startProgram, type Environment } from './program.ts';

test('after a leak, the documented commands replace both keys, and keys of clients stay valid', async () => {
  using folder = newTempFolder();
  const journal = join(folder.path, 'deletions');
  const run = running(folder.path, { KEYREEVE_DELETION_JOURNAL: journal });
  const start = (more: Environment = {}) => startProgram(folder.path, { KEYREEVE_DELETION_JOURNAL: journal, ...more });
  let key = '';
  {
    await using program = await start();
    ({ key } = await program.newKey());
    const refused = await run('root-key rotate --yes');
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /the service runs: ins_/);
    assert.equal((await program.stop()).status, 0);
  }
  await succeeds(run('backup --to before.gz'));
  const next = join(folder.path, 'master-key-2');
  const byNext = { KEYREEVE_MASTER_KEY_FILE: next };
  await succeeds(run(`master-key rotate --new-file ${next} --generate`));
  assert.match((await run('root-key rotate --yes', byNext)).stderr, /rotation of the master key has not been finished/);
  await succeeds(run('master-key rotate --finish', byNext));
  assert.match(await succeeds(run('root-key rotate --yes', byNext)), /^The root key has version 2 now/);
  await succeeds(run('backup --to after.gz', byNext));
  const rejected = await run('restore --from before.gz --replace --yes', byNext);
  assert.equal(rejected.status, 1);
  assert.match(rejected.stderr, /before the rotation of the root key/);
  await succeeds(run('restore --from after.gz --replace --yes', byNext));
  const doctor = await run('doctor', byNext);
  assert.equal(doctor.status, 0, doctor.stdout);
  assert.match(doctor.stdout, /^root key +ok +version 2/m);
  await succeeds(run('audit verify', byNext));
  await using program = await start(byNext);
  assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
});
