/** Progress of an import on a terminal. Transcripts show that there is none elsewhere. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { environmentFor, keyreeveBin, runProgram } from '../../../test/e2e/program.ts';
import { noTerminal, Terminal } from '../../../test/e2e/terminal.ts';

test('an import shows its progress on a terminal and replaces it with the report', { skip: noTerminal }, async () => {
  using folder = newTempFolder();
  const file = join(folder.path, 'accounts.jsonl');
  writeFileSync(file, '{"email":"ada@example.com"}\n{"email":"ada"}\n');
  assert.equal((await runProgram(['migrate'], { folder: folder.path })).status, 0);
  const line = `'${process.execPath}' '${keyreeveBin}' import accounts '${file}'`;
  await using terminal = Terminal.start(line, folder.path, environmentFor(folder.path));
  await terminal.shows('2 lines (100 %), 1 refused');
  await terminal.shows('\r\u001B[KImported 1 account; 0 existed already; 1 line refused.');
  assert.equal((await terminal.exited()).status, 1);
});
