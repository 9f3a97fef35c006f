/** Help of the command line: what each command's help contains. Its wording is in `transcripts/help.txt`. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';
import { CliCommand } from '../command.ts';
import { createProgram } from '../program.ts';

const nothing = (): void => undefined;

/** A program whose commands do nothing and whose errors are thrown. The process keeps its priority. */
function inertProgram(): CliCommand {
  const program = createProgram(nothing, nothing);
  const visit = (command: CliCommand): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    const children = childrenOf(command);
    if (children.length === 0) command.action(() => undefined);
    children.forEach(visit);
  };
  visit(program);
  return program;
}

const childrenOf = (command: CliCommand): readonly CliCommand[] =>
  command.commands.filter((child) => child instanceof CliCommand);

const commandsBelow = (command: CliCommand, path: string): [path: string, command: CliCommand][] =>
  childrenOf(command).flatMap((child) => {
    const childPath = `${path} ${child.name()}`;
    return [[childPath, child], ...commandsBelow(child, childPath)];
  });

/** Without settings before it and what a shell does with its input and output. */
const argumentsOf = (line: string): string[] =>
  (/(?:^| |\()keyreeve ([^|<>)]*)/.exec(line)?.[1] ?? '').trim().replaceAll("'", '').split(' ');

test('every command of the program belongs to a group, and the help lists groups together', () => {
  const groups = childrenOf(inertProgram()).map((command) => command.inGroup);
  const inOrder = ['daily', 'operate', 'recover'].flatMap((group) => groups.filter((each) => each === group));
  assert.deepEqual(groups, inOrder);
});

suite('the help of every command', () => {
  for (const [path, command] of commandsBelow(inertProgram(), 'keyreeve')) {
    test(path, async () => {
      const page = command.page ?? (command.parent as CliCommand).page ?? '';
      assert.ok(existsSync(new URL(`../../../../../${page}`, import.meta.url)), `${page} does not exist`);
      assert.match(command.description(), /^[A-Z][^]*\.$/);
      for (const option of command.options) assert.match(option.description, /^\S.*[^.]$/);
      if (childrenOf(command).length > 0) return;
      assert.notEqual(command.exampleLines.length, 0, 'it has no example');
      for (const line of command.exampleLines) {
        assert.match(line, new RegExp(`(?:^| |\\()${path}(?: |$|\\))`), 'an example shows its own command');
        await inertProgram().parseAsync(argumentsOf(line), { from: 'user' });
      }
    });
  }
});
