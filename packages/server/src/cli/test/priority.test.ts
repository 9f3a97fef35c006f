/** Commands that read or write many rows have a lower priority than the service. */
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { test } from 'node:test';
import { createProgram } from '../program.ts';

const commands: readonly (readonly [line: string, isLow: boolean])[] = [
  ['serve', false],
  ['account list', false],
  ['key delete 1', false],
  ['import accounts accounts.jsonl', true],
  ['import api-keys keys.jsonl', true],
  ['audit verify', true],
  ['audit export', true],
  ['backup --to copy', true],
  ['restore --from copy', true],
  ['move --to postgres://127.0.0.1/keyreeve', true],
  ['journal replay', true],
];

for (const [line, isLow] of commands) {
  test(`keyreeve ${line} runs at ${isLow ? 'a lower' : 'the usual'} priority`, async (t) => {
    const setPriority = t.mock.method(os, 'setPriority', () => undefined);
    syncBuiltinESMExports();
    const program = createProgram(() => undefined);
    const words = line.split(' ');
    const [group] = words;
    let command = program.commands.find((each) => each.name() === group);
    command = command?.commands.find((each) => each.name() === words[1]) ?? command;
    let runs = 0;
    command?.action(() => void runs++);
    await program.parseAsync(words, { from: 'user' });
    t.mock.restoreAll();
    syncBuiltinESMExports();
    assert.equal(runs, 1);
    assert.equal(setPriority.mock.callCount(), isLow ? 1 : 0);
  });
}
