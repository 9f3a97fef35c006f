/** `keyreeve apply`: gives the installation what a file states. */
import type { Command } from 'commander';
import type { Applied, ApplyStep } from '../modules/apply/apply.ts';
import { readApplyFile } from '../modules/apply/file.ts';
import { CliCommand } from './command.ts';
import { plural, print, table, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface ApplyCommandOptions extends OutputOptions {
  readonly file: string;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
}

export function applyCommand(): Command {
  return new CliCommand('apply')
    .group('operate')
    .description('Create and change what a file states, such as accounts, keys and issuers.')
    .requiredOption('-f, --file <file>', 'file to apply')
    .option('--dry-run', 'print what would change; change nothing')
    .option('--prune', 'delete what an earlier file created and this one does not name')
    .json()
    .examples('keyreeve apply -f keyreeve.json --dry-run', 'keyreeve apply -f keyreeve.json')
    .references('docs/apply.md', 'bootstrap', 'database', 'masterKey', 'deletionJournal')
    .action(apply);
}

async function apply({ file: path, dryRun: isDryRun = false, prune: prunes = false, ...options }: ApplyCommandOptions) {
  const applied = await withInstallation({ mayCreate: !isDryRun }, ({ apply: applier, config }) =>
    applier.run(operator, readApplyFile(path, config.mayReadWorldReadableSecrets), { isDryRun, prunes }),
  );
  const { generation, steps } = applied;
  print(options, { generation, isDryRun, steps }, describe(applied, isDryRun));
}

const verbs = {
  create: 'create',
  change: 'change',
  delete: 'delete',
  keep_deleted: 'keep deleted',
} as const satisfies Readonly<Record<ApplyStep['change'], string>>;

function describe({ generation, steps }: Applied, isDryRun: boolean): string {
  const rows = steps.map(({ change, kind, name, id, members = [] }) => [
    verbs[change],
    kind.replace('_', ' '),
    name,
    id === name ? '' : id,
    members.join(', '),
  ]);
  const count = steps.filter(({ change }) => change !== 'keep_deleted').length;
  return [
    ...(rows.length > 0 ? [table(['CHANGE', 'KIND', 'NAME', 'ID', 'MEMBERS'], rows)] : []),
    isDryRun
      ? `Nothing was changed. Generation ${generation} would make ${plural(count, 'change')}.`
      : `Applied generation ${generation}: ${plural(count, 'change')}.`,
  ].join('\n');
}
