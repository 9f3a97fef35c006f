/** `keyreeve program …`: programs that sign in as a device and get an API key, for an operator. */
import type { Command } from 'commander';
import { limits, type NewProgramBody, type Program, type ProgramChangeBody } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import type { Removal } from '../modules/programs/programs.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { withOperations } from './operations/operations.ts';
import { collect, plural, print, table, type OutputOptions } from './output.ts';

export function deviceProgramCommand(): Command {
  const program = new CliCommand('program')
    .group('daily')
    .description('Manage the programs, such as command lines, with which people sign in to get an API key.')
    .references('docs/device-sign-in.md', 'database', 'masterKey', 'deletionJournal');
  withSettings(program.command('add'))
    .description('Add a program.')
    .argument('<id>', 'its client_id, such as acme-cli')
    .requiredOption('--name <name>', 'what people see')
    .examples('keyreeve program add acme-cli --name Acme --scope orders:read --lifetime 90d')
    .action(add);
  program
    .command('list')
    .description('List the programs, with the number of their keys, and removed programs that still have keys.')
    .json()
    .remote('administrator')
    .examples('keyreeve program list')
    .action(list);
  const forOne = (name: string, description: string, options = '') =>
    program
      .command(name)
      .description(description)
      .argument('<id>', 'id of the program')
      .json()
      .remote('administrator')
      .examples(`keyreeve program ${name} acme-cli${options}`);
  forOne('show', 'Show a program.').action(show);
  withSettings(
    program
      .command('change')
      .description('Change a program. Settings that the options do not name stay the same, and so do its keys.')
      .argument('<id>', 'id of the program'),
  )
    .option('--name <name>', 'what people see')
    .option('--clear-scopes', 'allow no scopes')
    .examples('keyreeve program change acme-cli --lifetime 30d')
    .action(change);
  forOne('remove', 'Remove a program. Its keys stay valid, unless --delete-keys is given.', ' --delete-keys --yes')
    .option('--delete-keys', 'also delete its keys, also after the program was removed')
    .option('--yes', yesHelp)
    .action(removeProgram);
  return program;
}

/** Options for the settings of a program. */
const withSettings = (command: CliCommand) =>
  command
    .option('--scope <scope>', 'scope that its keys may have (repeatable)', collect)
    .option('--lifetime <time>', 'longest lifetime of its keys, such as 90d or 12h')
    .json()
    .remote('administrator');

interface SettingOptions extends OutputOptions {
  readonly name?: string;
  readonly scope?: string[];
  readonly clearScopes?: boolean;
  readonly lifetime?: string;
}

function settingsOf({ name, scope, clearScopes = false, lifetime }: SettingOptions): ProgramChangeBody {
  if (scope && clearScopes) throw new UsageError('give --scope or --clear-scopes');
  return {
    ...(name !== undefined && { name }),
    ...(scope && { scopes: scope }),
    ...(clearScopes && { scopes: [] }),
    ...(lifetime !== undefined && { lifetimeSeconds: parseLifetime(lifetime) }),
  };
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** @throws UsageError */
function parseLifetime(text: string): number {
  const { programLifetimeSecondsMax: max, programLifetimeSecondsMin: min } = limits;
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (seconds >= min && seconds <= max) return seconds;
  throw new UsageError(`--lifetime must be like 90d, 12h or 30m, from ${min / 60}m to ${max / 86_400}d, not “${text}”`);
}

const inWords = (seconds: number): string => {
  const [unit = 's', size = 1] =
    Object.entries(unitSeconds)
      .toReversed()
      .find(([, each]) => seconds > 0 && seconds % each === 0) ?? [];
  return `${seconds / size}${unit}`;
};

async function add(id: string, { name, ...options }: SettingOptions & { readonly name: string }): Promise<void> {
  const wanted: NewProgramBody = { ...settingsOf(options), id, name };
  const added = await withOperations((to) => to.programs.add(wanted));
  print(options, added, [
    `Added the program ${added.id} (${added.name}). Its keys can have the scopes ${scopesOf(added)} for at most ${inWords(added.lifetimeSeconds)}.`,
  ]);
}

const scopesOf = ({ scopes }: Program): string => scopes.join(' ') || '(none)';

async function list(options: OutputOptions): Promise<void> {
  const found = await withOperations((to) => to.programs.list());
  const { programs, removed } = found;
  const rows = [
    ...programs.map((one) => [one.id, one.name, scopesOf(one), inWords(one.lifetimeSeconds), String(one.keys)]),
    ...removed.map(({ id, keys }) => [id, '(removed)', '', '', String(keys)]),
  ];
  const head = ['ID', 'NAME', 'SCOPES', 'LIFETIME', 'KEYS'];
  print(options, found, `${table(head, rows)}\n${plural(programs.length, 'program')}`);
}

async function show(id: string, options: OutputOptions): Promise<void> {
  const found = await withOperations((to) => to.programs.find(id));
  const rows = [
    ['name', found.name],
    ['scopes', scopesOf(found)],
    ['lifetime', found.lifetimeSeconds === 0 ? 'none: no sign-in is possible' : inWords(found.lifetimeSeconds)],
    ['keys', String(found.keys)],
    ['created', found.createdAt],
    ['updated', found.updatedAt],
  ];
  print(options, found, table(['id', found.id], rows));
}

async function change(id: string, options: SettingOptions): Promise<void> {
  const wanted = settingsOf(options);
  if (Object.keys(wanted).length === 0) throw new UsageError('give at least one setting; see --help');
  const changed = await withOperations((to) => to.programs.change(id, wanted));
  print(options, changed, `Changed the program ${id}.`);
}

interface RemoveOptions extends OutputOptions {
  readonly deleteKeys?: boolean;
  readonly yes?: boolean;
}

async function removeProgram(id: string, { deleteKeys = false, ...options }: RemoveOptions): Promise<void> {
  const removal = await withOperations(async ({ programs }) => {
    const keys = await keysOf(() => programs.find(id), deleteKeys);
    await confirm(
      `This ends sign-ins with the program ${id}. ${keys}${deleteKeys ? ' They will be deleted.' : ' They stay valid.'} Remove it?`,
      options,
    );
    const first = await programs.remove(id, deleteKeys);
    return deleteKeys ? untilNoneRemain(first, () => programs.remove(id, true)) : first;
  });
  const { deletedKeys, remainingKeys } = removal;
  print(options, { id, removed: true, ...removal }, [
    `Removed the program ${id}. Deleted keys: ${deletedKeys}. Remaining keys: ${remainingKeys}.`,
  ]);
}

async function untilNoneRemain(first: Removal, remove: () => Promise<Removal>): Promise<Removal> {
  let { deletedKeys, remainingKeys } = first;
  while (remainingKeys > 0) {
    const more = await remove();
    deletedKeys += more.deletedKeys;
    ({ remainingKeys } = more);
  }
  return { deletedKeys, remainingKeys };
}

/** A program that was removed before can still have keys. */
async function keysOf(find: () => Promise<Program>, deletesKeys: boolean): Promise<string> {
  try {
    return `Its keys: ${(await find()).keys}.`;
  } catch (error) {
    if (deletesKeys && error instanceof DomainError && error.code === 'program_not_found')
      return 'It was removed before.';
    throw error;
  }
}
