/** The command tree: all commands of the program. */
import { useSettingsFile } from '../app/configuration/config.ts';
import { lowerPriority } from '../foundation/priority.ts';
import { accountCommand } from './account.ts';
import { sessionCommand } from './account-session.ts';
import { adminCommand } from './admin.ts';
import { applyCommand } from './apply.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { Option, type Command } from 'commander';
import { CliCommand, remoteMark, targetOptions, type SetStatus } from './command.ts';
import { compactCommand } from './compact.ts';
import { completionCommand } from './completion.ts';
import { doctorCommand } from './doctor.ts';
import { UsageError } from './failure.ts';
import { importCommand } from './import.ts';
import { issuerCommand } from './issuer.ts';
import { journalCommand } from './journal.ts';
import { keyCommand } from './key.ts';
import { loginCommand, logoutCommand } from './login.ts';
import { mailCommand } from './mail.ts';
import { masterKeyCommand } from './master-key.ts';
import { migrateCommand } from './migrate.ts';
import { moveCommand } from './move.ts';
import { versionAndBuild } from './output.ts';
import { overviewCommand } from './overview.ts';
import { proveRevocationCommand } from './prove-revocation.ts';
import { chooseTarget, type TargetOptions } from './remote/target.ts';
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
    .version(versionAndBuild)
    .examples('keyreeve serve', 'keyreeve account create you@example.com', 'keyreeve account create --help');
  program.addOption(envFileOption()).addOption(targetOptions.url()).addOption(targetOptions.keyFile());
  // `prove-revocation` has another option with the name `--url`.
  program.enablePositionalOptions();
  program.addHelpText(
    'after',
    `\n${remoteMark}\n\nDocumentation: the page /docs of the service, such as http://127.0.0.1:8787/docs`,
  );
  const commands = [
    accountCommand(),
    keyCommand(),
    serviceAccountCommand(),
    issuerCommand(setStatus),
    scopeCommand(),
    sessionCommand(),
    webhookCommand(setStatus),
    overviewCommand(),
    loginCommand(),
    logoutCommand(),
    serveCommand(setStatus),
    migrateCommand(),
    adminCommand(),
    applyCommand(),
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
  for (const command of commands) program.addCommand(command.addOption(envFileOption().hideHelp()));
  program.hook('preAction', (_, command) => {
    useSettingsFile(command.optsWithGlobals<{ envFile?: string }>().envFile);
    useTarget(program, command);
    if (command instanceof CliCommand && command.hasLowPriority) lower();
  });
  return program;
}

const envFileOption = (): Option => new Option('--env-file <file>', 'read settings from this file');

/** @throws UsageError before a command without a remote form does anything */
function useTarget(program: CliCommand, command: Command): void {
  const use = command instanceof CliCommand ? command.remoteUse : undefined;
  const { url, keyFile } = use ? command.optsWithGlobals<TargetOptions>() : program.opts<TargetOptions>();
  if ((url !== undefined || keyFile !== undefined) && use === undefined)
    throw new UsageError(`${nameOf(command)} works only on the machine of the service, without --url and --key-file`);
  if (keyFile !== undefined && use !== 'management_key')
    throw new UsageError(`${nameOf(command)} is not for management keys`);
  chooseTarget({ ...(url === undefined ? {} : { url }), ...(keyFile === undefined ? {} : { keyFile }) });
}

/** Such as `keyreeve account create`. */
const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
