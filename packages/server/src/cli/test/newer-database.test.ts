/** A database that needs a newer program: every command that opens it fails with the same message and changes nothing. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { sendCommand } from '../../../test/e2e/command-client.ts';
import { startCommandHost } from '../../../test/e2e/command-host.ts';
import { environmentFor } from '../../../test/e2e/program.ts';
import { databaseKinds, databases, newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { newestSchema } from '../../foundation/database/migrate.ts';
import { sql } from '../../foundation/database/sql.ts';
import { CliCommand } from '../command.ts';
import { createProgram } from '../program.ts';

/** That of `testKeys`. */
const masterKey = Buffer.alloc(32, 7);
const newest = newestSchema('sqlite');
const message = `the database has schema ${newest + 1}, which needs a newer program: this one supports up to ${newest}. Install the version that created it.`;

const insertMigration = sql(
  'test_newer_schema',
  `insert into schema_migrations (version, name, checksum, compatible_from, applied_at) values ($1, 'newer', 'x', $2, 0)`,
);
// What only this program knows must not be read before the check.
const renameInstallation = sql('test_rename_installation', 'alter table installation rename to installations');
const listMigrations = sql('test_list_migrations', 'select version, name, checksum from schema_migrations');
const countInstallations = sql('test_count_installations', 'select * from installations');

/** They open no database. `move` opens another one first. */
const others = new Set(['completion', 'login', 'logout', 'mail preview', 'mail test', 'key scan-rules', 'move']);

/** The others open SQLite and PostgreSQL by the same function. */
const onEach = new Set(['serve', 'migrate', 'account create', 'account list', 'restore', 'backup', 'doctor']);

const leavesOf = (command: CliCommand, path: readonly string[]): [name: string, command: CliCommand][] =>
  command.commands
    .filter((child) => child instanceof CliCommand)
    .flatMap((child) => {
      const own = [...path, child.name()];
      return child.commands.length > 0 ? leavesOf(child, own) : [[own.join(' '), child] as [string, CliCommand]];
    });

/** The first example of the command, without questions. */
function argumentsOf(command: CliCommand, folder: string): string[] {
  const options = ['--yes', '--generate'].filter((flag) => command.options.some(({ long }) => long === flag));
  const [, line = ''] = /keyreeve ([^|<>]*)/.exec(command.exampleLines[0] ?? '') ?? [];
  return [
    ...line
      .trim()
      .replaceAll("'", '')
      .replace(/^backup .*/, `backup --to ${folder} --keep 1`)
      .split(' '),
    ...options,
  ];
}

suite('a database that needs a newer program', () => {
  const host = startCommandHost();
  after(async () => (await host)[Symbol.dispose]());

  for (const kind of databaseKinds)
    test(`is a clear error of every command that opens it, and stays as it is (${kind})`, async () => {
      using folder = newTempFolder();
      await using opened = await databases[kind]!();
      const { db, url } = opened;
      // For `key leaked`.
      const input = Buffer.from('a secret\n').toString('base64');
      await db.transaction(async (tx) => {
        await tx.run(insertMigration, [newest + 1, newest + 1]);
        await tx.run(renameInstallation);
      });
      const contents = async () => [await db.all(listMigrations), await db.all(countInstallations)];
      const before = await contents();
      writeFileSync(join(folder.path, 'accounts.jsonl'), '');
      writeFileSync(join(folder.path, 'keys.jsonl'), '');
      const environment = environmentFor(folder.path, {
        KEYREEVE_DATABASE_URL: url,
        KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
      });
      const unexpected: object[] = [];
      for (const [name, command] of leavesOf(
        createProgram(() => undefined),
        [],
      )) {
        if (others.has(name) || (kind === 'sqlite' && !onEach.has(name))) continue;
        const args = argumentsOf(command, folder.path);
        const result = await sendCommand((await host).path, { args, environment, folder: folder.path, input });
        const printed = name === 'doctor' ? result.stdout : result.stderr;
        if (result.status !== (name === 'doctor' ? 1 : 78) || !printed.includes(`${message}\n`))
          unexpected.push({ args: args.join(' '), ...result });
      }
      assert.deepEqual(unexpected, []);
      assert.deepEqual(await contents(), before);
    });

  test('that this program can use is copied with a warning, and neither replaced nor moved', async () => {
    using folder = newTempFolder();
    await using opened = await databases['sqlite']!();
    await using target = await newPlace('postgres');
    const environment = environmentFor(folder.path, {
      KEYREEVE_DATABASE_URL: opened.url,
      KEYREEVE_MASTER_KEY: masterKey.toString('base64url'),
    });
    const run = async (line: string) =>
      sendCommand((await host).path, { args: line.split(' '), environment, folder: folder.path });
    await run('account create you@example.com --generate');
    assert.equal((await run('backup --to before.gz')).stderr, '');
    await opened.db.transaction((tx) => tx.run(insertMigration, [newest + 1, newest]));
    const reason = `keyreeve: the database has schema ${newest + 1}, of which this program supports only the parts up to ${newest}`;
    const { status, stderr } = await run('backup --to after.gz');
    const warning = `${reason}: the backup lacks the others. Make backups with the version that migrated it\n`;
    assert.deepEqual([status, stderr], [0, warning]);
    assert.deepEqual(await run('restore --from before.gz --replace --yes --accept-revival'), {
      status: 1,
      stdout: '',
      stderr: `${reason}; restore with the version that migrated it, or into a new database\n`,
    });
    await opened.db.close();
    for (const option of ['', ' --dry-run'])
      assert.deepEqual(await run(`move --to ${target.url}${option}`), {
        status: 78,
        stdout: '',
        stderr: `${reason}; move it with the version that migrated it\n`,
      });
  });
});
