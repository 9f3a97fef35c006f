/** The command tree: all commands of the program. */
import { useSettingsFile } from '../app/configuration/config.ts';
import { lowerPriority } from '../foundation/priority.ts';
import { accountCommand } from './account.ts';
import { adminCommand } from './admin.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { compactCommand } from './compact.ts';
import { completionCommand } from './completion.ts';
import { doctorCommand } from './doctor.ts';
import { importCommand } from './import.ts';
import { journalCommand } from './journal.ts';
import { keyCommand } from './key.ts';
import { mailCommand } from './mail.ts';
import { masterKeyCommand } from './master-key.ts';
import { migrateCommand } from './migrate.ts';
import { moveCommand } from './move.ts';
import { version } from './output.ts';
import { proveRevocationCommand } from './prove-revocation.ts';
import { restoreCommand } from './restore.ts';
import { rootKeyCommand } from './root-key.ts';
import { scopeCommand } from './scope.ts';
import { serveCommand } from './serve.ts';
import { serviceAccountCommand } from './service-account.ts';
import { signingKeyCommand } from './signing-key.ts';
import { webhookCommand } from './webhook.ts';

/** @param lower lowers the priority of the process, before a command that reads or writes many rows */
export function createProgram(setStatus: SetStatus, lower: () => void = () => lowerPriority()): CliCommand {
  const program = new CliCommand('keyreeve')
    .description('Self-hosted account authentication and API keys.')
    .version(version)
    .examples('keyreeve serve', 'keyreeve account create you@example.com', 'keyreeve account create --help');
  program.commandsGroup('Help:');
  program.option('--env-file <file>', 'read settings from this file');
  program.addHelpText('after', '\nDocumentation: README.md, docs/configuration.md');
  const commands = [
    accountCommand(),
    keyCommand(),
    serviceAccountCommand(),
    scopeCommand(),
    webhookCommand(setStatus),
    serveCommand(setStatus),
    migrateCommand(),
    adminCommand(),
    doctorCommand(setStatus),
    mailCommand(),
    auditCommand(setStatus),
    backupCommand(),
    signingKeyCommand(),
    masterKeyCommand(),
    importCommand(setStatus),
    moveCommand(),
    compactCommand(),
    proveRevocationCommand(setStatus),
    completionCommand(),
    restoreCommand(),
    journalCommand(),
    rootKeyCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  program.hook('preAction', (_, command) => {
    useSettingsFile(program.opts<{ envFile?: string }>().envFile);
    if (command instanceof CliCommand && command.hasLowPriority) lower();
  });
  return program;
}
