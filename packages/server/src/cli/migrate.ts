/** `keyreeve migrate` */
import { Command } from 'commander';
import { jsonHelp, plural, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring the database’s schema up to date; makes the embedded database if there is none.')
    .option('--json', jsonHelp)
    .action(async (options: OutputOptions) => {
      const applied = await withInstallation({ mayCreate: true }, async ({ installation }) => installation.migrated);
      const text =
        applied.length === 0
          ? 'The schema is up to date.'
          : `Applied ${plural(applied.length, 'migration')}: ${applied.join(', ')}.`;
      print(options, { applied }, text);
    });
}
