/** The command line, by transcripts that a user could read: each runs in an empty folder against the real program. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { newTempFolder } from '../../src/testing/temp-folder.ts';
import { parseTranscript, Shell } from './transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

const options = {
  // A command is a process of its own, so two at once use two cores.
  concurrency: 2,
  skip: process.platform === 'win32' && 'transcripts need sh',
};

suite('the command line does what its transcripts say', options, () => {
  const compileCache = newTempFolder();
  after(() => compileCache[Symbol.dispose]());

  for (const name of readdirSync(folder).filter((file) => file.endsWith('.txt'))) {
    test(name, async () => {
      using temp = newTempFolder();
      const shell = new Shell(temp.path, compileCache.path);
      const steps = parseTranscript(readFileSync(new URL(name, folder), 'utf8'));
      assert.notEqual(steps.length, 0);
      for (const step of steps) assert.equal(await shell.run(step), step.expected, `$ ${step.command}`);
    });
  }
});
