/** The command line, by transcripts that a user could read: each runs in an empty folder, on either database. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { startCommandHost } from '../../../test/e2e/command-host.ts';
import { databaseKinds, newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { parseTranscript, Shell, type Step } from './transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

/** The first line of a transcript that names files of the embedded database, or that reaches no database. */
const onlySqlite = /^# (?:On the embedded database|Without a database)\.\n/;

const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

async function assertPrinted(shell: Shell, steps: readonly Step[]): Promise<void> {
  assert.notEqual(steps.length, 0);
  for (const step of steps) assert.equal(await shell.run(step), step.expected, `$ ${step.command}`);
}

suite(
  'the command line does what its transcripts say',
  { skip: process.platform === 'win32' && 'transcripts need sh' },
  () => {
    const host = startCommandHost();
    after(async () => (await host)[Symbol.dispose]());

    for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt'))) {
      const text = read(name);
      for (const kind of databaseKinds) {
        if (kind !== 'sqlite' && onlySqlite.test(text)) continue;
        test(`${name} (${kind})`, { tags: ['asvs:6.2.4', 'asvs:11.1.1', 'asvs:11.1.2'] }, async () => {
          using temp = newTempFolder();
          // The embedded one lies in the folder, where commands look for its files.
          await using place = kind === 'sqlite' ? undefined : await newPlace(kind);
          await assertPrinted(new Shell(temp.path, (await host).path, place?.environment), parseTranscript(text));
        });
      }
    }

    test('a process of the program prints the same as a command in the process of the tests', async () => {
      using temp = newTempFolder();
      await assertPrinted(new Shell(temp.path), parseTranscript(read('roles.txt')));
    });
  },
);
