/** The command line, by transcripts that a user could read. All of them run on PostgreSQL in `transcripts.extended.test.ts`. */
import { test } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { assertPrinted, testTranscripts, transcriptsFor } from './transcript-suite.ts';
import { Shell } from './transcript.ts';

testTranscripts({ sqlite: transcriptsFor('sqlite'), postgres: ['roles.txt'] }, [
  'asvs:6.2.4',
  'asvs:11.1.1',
  'asvs:11.1.2',
]);

test(
  'a process of the program prints the same as a command in the process of the tests',
  { skip: process.platform === 'win32' && 'transcripts need sh' },
  async () => {
    using temp = newTempFolder();
    await assertPrinted(new Shell(temp.path), 'roles.txt');
  },
);
