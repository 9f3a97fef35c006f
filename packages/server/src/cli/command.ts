/** Commands whose help has, beside what commander prints: examples, environment variables and a page of the documentation. */
import { Command, Option } from 'commander';
import type { Config } from '../app/configuration/config.ts';
import { settings } from '../app/configuration/settings.ts';

/** Sets the exit status of the program. */
export type SetStatus = (status: number) => void;

/** The headings of the help, in its order. Every command of the program belongs to one group. */
const groups = {
  daily: 'Daily (accounts, keys and what belongs to them):',
  operate: 'Operate (run, check and maintain an installation):',
  recover: 'Recover (after a loss or a leak):',
} as const;
export type Group = keyof typeof groups;

/** Who can run a command with `--url`: an administrator, also a backend with a management key, or only the sign-in itself. */
export type RemoteUse = 'administrator' | 'management_key' | 'session';

const remoteHelp: Readonly<Record<RemoteUse, string>> = {
  administrator: 'With --url, the command works on a remote service, as an administrator (docs/administration.md).',
  management_key:
    'With --url, the command works on a remote service, as an administrator or with --key-file (docs/administration.md).',
  session: 'The command needs --url (docs/administration.md).',
};

export class CliCommand extends Command {
  /** Command lines of the help. Tests run them through the parser. */
  readonly exampleLines: string[] = [];
  /** The page of the documentation, relative to the repository. Subcommands have the page of their group. */
  page: string | undefined;
  /** Settings in the help. Subcommands have those of their group. */
  keys: readonly (keyof Config)[] | undefined;
  /** Of a command of the program. Subcommands have none. */
  inGroup: Group | undefined;
  /** Undefined for a command that needs the database or files of this machine. */
  remoteUse: RemoteUse | undefined;
  #isLowPriority = false;

  constructor(name?: string) {
    super(name);
    this.configureHelp({
      subcommandDescription: (command) => `${firstSentence(command.description())}${isRemote(command) ? ' *' : ''}`,
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(usageOf)].join(' '),
    });
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** The part of the help that lists the command. */
  group(group: Group): this {
    this.inGroup = group;
    return this.helpGroup(groups[group]);
  }

  /** Gives the command a remote form. The options of the program can also follow its name. */
  remote(use: RemoteUse): this {
    this.remoteUse = use;
    this.addOption(targetOptions.url().hideHelp());
    if (use === 'management_key') this.addOption(targetOptions.keyFile().hideHelp());
    return this.addHelpText('after', `\n${remoteHelp[use]}`);
  }

  /** The command and its subcommands run at a lower priority than the service, if the system permits it. */
  lowPriority(): this {
    this.#isLowPriority = true;
    return this;
  }

  get hasLowPriority(): boolean {
    return this.#isLowPriority || (this.parent instanceof CliCommand && this.parent.hasLowPriority);
  }

  json(): this {
    return this.option('--json', 'print JSON');
  }

  /** Rejects `--<name>` together with `--no-<name>`: the parser would let the later one win. */
  exclusive(name: string): this {
    const given = new Set<string>();
    for (const one of [name, `no-${name}`])
      this.on(`option:${one}`, () => {
        given.add(one);
        if (given.size > 1) this.error(`error: option '--${name}' cannot be used with option '--no-${name}'`);
      });
    return this;
  }

  examples(...lines: readonly string[]): this {
    this.exampleLines.push(...lines);
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
  }

  /** Instead of the page of the group. */
  documentedIn(page: string): this {
    this.page = page;
    return this;
  }

  /** Instead of the settings of the group. */
  reads(...keys: readonly (keyof Config)[]): this {
    this.keys = keys;
    return this;
  }

  /** Also for the subcommands. */
  references(page: string, ...keys: readonly (keyof Config)[]): this {
    this.page = page;
    this.addHelpText('after', () => (this.commands.some(isRemote) ? `\n${remoteMark}` : ''));
    return this.addHelpText('afterAll', ({ command }) => {
      const own: Partial<CliCommand> = command instanceof CliCommand ? command : {};
      return [...variablesOf(own.keys ?? keys), '', `Documentation: ${own.page ?? page}`].join('\n');
    });
  }
}

/** Below lists of commands. */
export const remoteMark = '* also on a remote service, with --url (docs/administration.md)';

export const targetOptions = {
  url: () => new Option('--url <url>', 'work on the service at this URL instead of the database of this machine'),
  keyFile: () => new Option('--key-file <file>', 'with --url: file with a management key, - for standard input'),
};

/** A group of commands is marked if one of them is. */
const isRemote = (command: Command): boolean =>
  (command instanceof CliCommand && command.remoteUse !== undefined) || command.commands.some(isRemote);

/** @returns lines */
function variablesOf(keys: readonly (keyof Config)[]): string[] {
  if (keys.length === 0) return [];
  const used = keys.map((key) => settings[key]);
  const width = Math.max(...used.map(({ name }) => name.length));
  const lines = used.map(({ name, doc, default: value }) => {
    const defaultText = value === '' ? '' : ` (default: ${value})`;
    return `  ${name.padEnd(width)}  ${firstSentence(doc)}${defaultText}`;
  });
  return ['', 'Environment variables (all: docs/configuration.md):', ...lines];
}

const usageOf = (argument: { name: () => string; required: boolean }): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

/** Without Markdown and without the full stop. */
const firstSentence = (text: string): string =>
  text
    .replace(/\.(?:\s.*)?$/s, '')
    .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll('`', '');
