/**
 * `keyreeve completion`: prints a script that completes commands, options and their values in a shell. The scripts are
 * generated from the command tree. Each compares the words before the cursor with a list of cases; the first match applies.
 */
import { readFileSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { CliCommand } from './command.ts';
import { ownFile } from '../foundation/own-files.ts';

interface Candidate {
  readonly word: string;
  readonly description: string;
}

interface Case {
  /** The words before the cursor without the program, each followed by a space. Any text may stand between two parts. */
  readonly parts: readonly string[];
  readonly candidates: readonly Candidate[];
  /** Also completes paths. */
  readonly paths?: 'files' | 'folders' | undefined;
}

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export function completionCommand(): Command {
  return new CliCommand('completion')
    .group('operate')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'shell that will run the script').choices(shells))
    .examples('keyreeve completion bash > /etc/bash_completion.d/keyreeve', 'keyreeve completion fish | source')
    .references('docs/operating.md')
    .action((shell: Shell, _options: unknown, command: Command) => {
      process.stdout.write(completionScript(shell, command.parent ?? command));
    });
}

export function completionScript(shell: Shell, program: Command): string {
  const template = readFileSync(ownFile(`cli/completion/template.${shell}`), 'utf8');
  return template.replace('@CASES@', () => casesOf(program, '').map(renderers[shell]).join('\n'));
}

/** @param path the names from below the program to this command, each followed by a space */
function casesOf(command: Command, path: string): Case[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command).map(({ long, description }) => ({ word: long ?? '', description }));
  const subcommands = help
    .visibleCommands(command)
    .map((child) => ({ word: child.name(), description: `${groupOf(child)}${help.subcommandDescription(child)}` }));
  const optionValues = command.options
    .filter(({ required }) => required)
    .map(({ long, flags, argChoices = [] }) => ({
      parts: [path, `${long} `],
      candidates: argChoices.map(withoutDescription),
      paths: pathsIn(flags),
    }));
  if (subcommands.length > 0) {
    return [
      ...optionValues,
      ...command.commands.flatMap((child) => casesOf(child, `${path}${child.name()} `)),
      { parts: [`${path}help `], candidates: subcommands },
      { parts: [path], candidates: [...subcommands, ...options] },
    ];
  }
  const argumentValues = command.registeredArguments.flatMap(({ argChoices }, index) => {
    const parts = [path, ...Array.from({ length: index }, () => ' ')];
    return argChoices ? [{ parts, candidates: [...argChoices.map(withoutDescription), ...options] }] : [];
  });
  const rest = { parts: [path, ''], candidates: options, paths: pathsIn(help.commandUsage(command)) };
  return [...optionValues, ...argumentValues, rest];
}

/** The candidates are in the order of the help, so those of a group are together. */
const groupOf = (command: Command): string =>
  command instanceof CliCommand && command.inGroup ? `${command.inGroup}: ` : '';

const withoutDescription = (word: string): Candidate => ({ word, description: '' });

/** @param usage names the value of an option or the arguments of a command, such as `<file>` */
const pathsIn = (usage: string): Case['paths'] =>
  usage.includes('<file>') ? 'files' : usage.includes('<folder>') ? 'folders' : undefined;

/** Each renders one case of the `case` or `switch` of its template. */
const renderers: Readonly<Record<Shell, (it: Case) => string>> = {
  bash: ({ parts, candidates, paths }) => {
    const words = quote(candidates.map(({ word }) => word).join(' '));
    const kind = paths ? ` paths=${{ files: '-f', folders: '-d' }[paths]}` : '';
    return `    ${patternOf(parts)}) words=${words}${kind} ;;`;
  },
  zsh: ({ parts, candidates, paths }) => {
    const words = candidates.map(({ word, description }) =>
      quote(description === '' ? word : `${word}:${description}`),
    );
    const kind = paths ? ` paths=${{ files: "'-g *'", folders: '-/' }[paths]}` : '';
    return `    ${patternOf(parts)}) candidates=(${words.join(' ')})${kind} ;;`;
  },
  fish: ({ parts, candidates, paths }) => {
    const words = candidates.map(({ word, description }) => `${quoteFish(word)} ${quoteFish(description)}`);
    const print = words.length > 0 ? [`            printf '%s\\t%s\\n' ${words.join(' ')}`] : [];
    const kind = paths ? [`            __fish_complete_${{ files: 'path', folders: 'directories' }[paths]}`] : [];
    return [`        case ${quoteFish(parts.join('*'))}`, ...print, ...kind].join('\n');
  },
};

const patternOf = (parts: readonly string[]): string => parts.map(quote).join('*');
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const quoteFish = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
