/**
 * A database, a backup and a deletion journal from before 1.0.0 (`test/data/before-1.0.0`): each is rejected by name, and nothing
 * of it is used or changed.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { runInHost, runProgram, type Exit } from '../../../test/e2e/program.ts';

const data = fileURLToPath(new URL('../../../test/data/before-1.0.0/', import.meta.url));
const masterKey = Buffer.alloc(32, 6).toString('base64url');
const madeBefore = 'was made before 1.0.0, the first release, and no release can read it';

function newInstallation() {
  const folder = newTempFolder();
  const path = join(folder.path, 'keyreeve.db');
  const environment = { KEYREEVE_DATABASE_URL: `sqlite:${path}`, KEYREEVE_MASTER_KEY: masterKey };
  const run = (args: string, more: Readonly<Record<string, string>> = {}): Promise<Exit> =>
    runProgram(args.split(' '), { folder: folder.path, environment: { ...environment, ...more } });
  return { folder: folder.path, path, environment, run, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'hex')]));

test('a database from before 1.0.0 is rejected by every command, and stays as it is', async () => {
  using at = newInstallation();
  writeFileSync(at.path, gunzipSync(readFileSync(join(data, 'keyreeve.db.gz'))));
  const before = readFileSync(at.path);
  const expected = {
    status: 78,
    stdout: '',
    stderr: `keyreeve: the database ${madeBefore}; create a new installation\n`,
  };
  for (const command of ['migrate', 'backup --to new.gz', 'account create eve@example.com --generate', 'audit verify'])
    assert.deepEqual(await at.run(command), expected, command);
  const served = await runInHost(['serve'], { folder: at.folder, environment: at.environment });
  assert.deepEqual([served.status, served.stderr], [expected.status, expected.stderr]);
  assert.ok(readFileSync(at.path).equals(before));
});

test('a backup from before 1.0.0 is rejected, and nothing of it is restored', async () => {
  using at = newInstallation();
  const backup = join(data, 'backup.jsonl');
  const { status, stdout, stderr } = await at.run(`restore --from ${backup} --accept-revival --yes`);
  assert.deepEqual([status, stdout, stderr], [1, '', `keyreeve: ${backup} ${madeBefore}\n`]);
  const list = await at.run('account list --json');
  assert.deepEqual([list.status, list.stdout.includes('ada@example.com')], [0, false], list.stderr);
});

test('a deletion journal from before 1.0.0 is rejected, and no file of it is read', async () => {
  using at = newInstallation();
  const journal = join(at.folder, 'journal');
  cpSync(join(data, 'journal'), journal, { recursive: true });
  const before = contentsOf(journal);
  assert.equal((await at.run('account create ada@example.com --generate')).status, 0);
  assert.equal((await at.run('backup --to new.gz')).status, 0);
  const restore = await at.run(`restore --from new.gz --replace --journal ${journal} --yes`);
  const position = join(journal, 'position.json');
  assert.deepEqual(
    [restore.status, restore.stderr],
    [1, `keyreeve: ${position} ${madeBefore}; move it out of the folder\n`],
  );
  const served = await runInHost(['serve'], {
    folder: at.folder,
    environment: { ...at.environment, KEYREEVE_DELETION_JOURNAL: journal },
  });
  assert.equal(served.stderr, `keyreeve: ${position} ${madeBefore}; move it out of the folder\n`);
  assert.deepEqual(contentsOf(journal), before);

  // The other files are rejected without it too, before the service writes its own beside them.
  const { 'position.json': _, ...others } = before;
  rmSync(position);
  const again = await runInHost(['serve'], {
    folder: at.folder,
    environment: { ...at.environment, KEYREEVE_DELETION_JOURNAL: journal },
  });
  assert.equal(
    again.stderr,
    `keyreeve: ${join(journal, Object.keys(others).toSorted()[0] ?? '')} ${madeBefore}; move it out of the folder\n`,
  );
  assert.deepEqual(contentsOf(journal), others);
  cpSync(join(data, 'journal', 'position.json'), position);

  // Each file is named. The operator accepts with this option that deleted keys may work again.
  const accepted = await at.run(`restore --from new.gz --replace --journal ${journal} --accept-revival --yes`);
  assert.equal(accepted.status, 0, accepted.stderr);
  for (const name of readdirSync(journal))
    assert.ok(accepted.stdout.includes(`Not restored: ${join(journal, name)} ${madeBefore}`), name);
});
