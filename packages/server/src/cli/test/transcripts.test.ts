/** The command line, by transcripts that a user could read: each runs in an empty folder against the real program, on
 * either database. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { databaseKinds, newPlace } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { parseTranscript, Shell } from './transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

/** What it says begins with files, which only the embedded database has. */
const onlyEmbedded = '# On the embedded database.\n';

const options = {
  // A command is a process of its own, so two at once use two cores.
  concurrency: 2,
  skip: process.platform === 'win32' && 'transcripts need sh',
};

suite('the command line does what its transcripts say', options, () => {
  const compileCache = newTempFolder();
  after(() => compileCache[Symbol.dispose]());

  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt'))) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const steps = parseTranscript(text);
    for (const kind of databaseKinds) {
      if (kind !== 'sqlite' && text.startsWith(onlyEmbedded)) continue;
      test(`${name} (${kind})`, { tags: ['asvs:6.2.4', 'asvs:11.1.1', 'asvs:11.1.2'] }, async () => {
        using temp = newTempFolder();
        // The embedded one lies in the folder, where commands look for its files.
        await using place = kind === 'sqlite' ? undefined : await newPlace(kind);
        const shell = new Shell(temp.path, compileCache.path, place?.environment);
        assert.notEqual(steps.length, 0);
        for (const step of steps) assert.equal(await shell.run(step), step.expected, `$ ${step.command}`);
      });
    }
  }
});
