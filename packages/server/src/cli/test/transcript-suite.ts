/** Runs transcripts as tests: each in an empty folder, on an empty database. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { startCommandHost } from '../../../test/e2e/command-host.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import type { Dialect } from '../../foundation/database/sql.ts';
import { parseTranscript, Shell, type Step } from './transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

/** The first line of a transcript that names files of the embedded database, or that reaches no database. */
const onlySqlite = /^# (?:On the embedded database|Without a database)\.\n/;

const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

/** File names of the transcripts that can run on the database. */
export const transcriptsFor = (kind: Dialect): readonly string[] =>
  readdirSync(folder).filter((file) => file.endsWith('.txt') && (kind === 'sqlite' || !onlySqlite.test(read(file))));

/** A suite of tests in which one process runs all commands. */
export function testTranscripts(
  names: Readonly<Partial<Record<Dialect, readonly string[]>>>,
  tags: string[] = [],
): void {
  const options = { skip: process.platform === 'win32' && 'transcripts need sh' };
  suite('the command line does what its transcripts say', options, () => {
    // Not the host of all tests of a run: some commands take seconds.
    const host = startCommandHost();
    after(async () => (await host)[Symbol.dispose]());

    for (const kind of ['sqlite', 'postgres'] as const) {
      for (const name of names[kind] ?? []) {
        test(`${name} (${kind})`, { tags }, async () => {
          using temp = newTempFolder();
          // The embedded one lies in the folder, where commands look for its files.
          await using place = kind === 'sqlite' ? undefined : await newPlace(kind);
          await assertPrinted(new Shell(temp.path, (await host).path, place?.environment), name);
        });
      }
    }
  });
}

export async function assertPrinted(shell: Shell, name: string): Promise<void> {
  const steps: readonly Step[] = parseTranscript(read(name));
  assert.notEqual(steps.length, 0);
  for (const step of steps) assert.equal(await shell.run(step), step.expected, `$ ${step.command}`);
}
