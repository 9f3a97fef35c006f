/** `keyreeve scope …`: the scope catalogue, for an operator. */
import type { Command } from 'commander';
import { CliCommand } from './command.ts';
import { plural, print, table, type OutputOptions } from './output.ts';
import { withOperations } from './operations/operations.ts';

export function scopeCommand(): Command {
  const scope = new CliCommand('scope')
    .group('daily')
    .description('Manage the scope catalogue.')
    .references('docs/scopes.md', 'database', 'masterKey', 'scopes');
  scope
    .command('list')
    .description('List all scopes, with the deleted ones.')
    .json()
    .remote('administrator')
    .examples('keyreeve scope list')
    .action(list);
  scope
    .command('set')
    .description('Declare or change a scope. What the options do not name stays as it is.')
    .argument('<name>', 'name of the scope')
    .option('--description <text>', 'for people who create keys')
    .option('--entitled', 'in force only on keys of accounts that have it as an entitlement')
    .option('--no-entitled', 'in force on all keys that have it (default for a new scope)')
    .exclusive('entitled')
    .json()
    .remote('administrator')
    .examples('keyreeve scope set orders:read --description orders', 'keyreeve scope set reports:read --entitled')
    .action(set);
  scope
    .command('delete')
    .description('Delete a scope: it is in force on no key, until it is declared again.')
    .argument('<name>', 'name of the scope')
    .json()
    .remote('administrator')
    .examples('keyreeve scope delete reports:read')
    .action(remove);
  return scope;
}

async function list(options: OutputOptions): Promise<void> {
  const scopes = await withOperations((to) => to.scopes.list());
  const rows = scopes.map(({ name, entitled, deletedAt, description }) => [
    name,
    deletedAt === null ? (entitled ? 'entitled' : 'open') : 'deleted',
    description,
  ]);
  print(options, scopes, `${table(['NAME', 'STATE', 'DESCRIPTION'], rows)}\n${plural(scopes.length, 'scope')}`);
}

async function set(
  name: string,
  { description, entitled, ...options }: OutputOptions & { description?: string; entitled?: boolean },
): Promise<void> {
  const given = {
    ...(description === undefined ? {} : { description }),
    ...(entitled === undefined ? {} : { entitled }),
  };
  const scope = await withOperations((to) => to.scopes.set(name, given));
  const needs = scope.entitled ? 'It needs an entitlement.' : 'It needs no entitlement.';
  print(options, scope, `The scope ${name} is declared. ${needs}`);
}

async function remove(name: string, options: OutputOptions): Promise<void> {
  await withOperations((to) => to.scopes.delete(name));
  print(options, { name, deleted: true }, `Deleted the scope ${name}.`);
}
