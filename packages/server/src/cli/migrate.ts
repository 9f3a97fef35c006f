/** `keyreeve migrate`: creates or updates the database schema. */
import type { Command } from 'commander';
import { CliCommand } from './command.ts';
import { plural, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

export function migrateCommand(): Command {
  return new CliCommand('migrate')
    .group('operate')
    .description('Update the schema of the database. Creates an SQLite database that does not exist.')
    .json()
    .examples('keyreeve migrate')
    .references('docs/operating.md', 'database', 'masterKey')
    .action(async (options: OutputOptions) => {
      const applied = await withInstallation({ mayCreate: true }, async ({ installation }) => installation.migrated);
      const text =
        applied.length === 0
          ? 'The schema is up to date.'
          : `Applied ${plural(applied.length, 'migration')}: ${applied.join(', ')}.`;
      print(options, { applied }, text);
    });
}
