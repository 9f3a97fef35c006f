/** `keyreeve compact`: returns the free pages of an SQLite database to the disk. */
import type { Command } from 'commander';
import { compactDatabase } from '../foundation/database/compact-sqlite-file.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

export function compactCommand(): Command {
  return new CliCommand('compact')
    .group('operate')
    .description(
      'Return the space of removed rows to the disk (SQLite). While it runs, verifications continue, and changes wait or get 503.',
    )
    .json()
    .examples('keyreeve compact')
    .references('docs/retention.md', 'database')
    .action(compact);
}

async function compact(options: OutputOptions): Promise<void> {
  const compacted = await withInstallation({}, async ({ config: { database }, installation: { db } }) => {
    if (database.kind !== 'sqlite')
      throw new UsageError(
        'only an SQLite database can be compacted; PostgreSQL uses the space of removed rows after a vacuum',
      );
    return compactDatabase(db, database.path);
  });
  const { bytesBefore, bytesAfter, warnings } = compacted;
  const text = `The database has ${toMib(bytesAfter)} MiB now. Before, it had ${toMib(bytesBefore)} MiB.`;
  print(options, compacted, [text, ...warnings.map((warning) => `Not compacted: ${warning}.`)].join('\n'));
}

const toMib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
