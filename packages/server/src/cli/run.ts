/** The command line: parses it, runs one command, and turns every failure into one line and an exit status. */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../app/config.ts';
import { SchemaError } from '../foundation/database/migrate.ts';
import { DomainError } from '../foundation/errors.ts';
import { accountCommand } from './account.ts';
import { adminCommand } from './admin.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { doctorCommand } from './doctor.ts';
import { describeFailure, isRefusal, UsageError } from './failure.ts';
import { importCommand } from './import.ts';
import { journalCommand } from './journal.ts';
import { keyCommand } from './key.ts';
import { mailCommand } from './mail.ts';
import { migrateCommand } from './migrate.ts';
import { moveCommand } from './move.ts';
import { version } from './output.ts';
import { proveRevocationCommand } from './prove-revocation.ts';
import { restoreCommand } from './restore.ts';
import { serveCommand } from './serve.ts';
import { signingKeyCommand } from './signing-key.ts';
import { webhookCommand } from './webhook.ts';

/** From sysexits.h, where it has one that fits. */
const exitCodes = { ok: 0, failed: 1, usage: 64, config: 78 } as const;

/** @returns the exit status */
export async function run(args: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok;
  const program = new Command('keyreeve')
    .description('Self-hosted account authentication and API keys.')
    .version(version)
    .addCommand(serveCommand((status) => (code = status)))
    .addCommand(migrateCommand())
    .addCommand(accountCommand())
    .addCommand(adminCommand())
    .addCommand(keyCommand())
    .addCommand(signingKeyCommand())
    .addCommand(webhookCommand((status) => (code = status)))
    .addCommand(importCommand((status) => (code = status)))
    .addCommand(auditCommand((status) => (code = status)))
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(journalCommand())
    .addCommand(moveCommand())
    .addCommand(mailCommand())
    .addCommand(doctorCommand((status) => (code = status)))
    .addCommand(proveRevocationCommand((status) => (code = status)));
  withoutExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return report(error);
  }
}

function withoutExit(command: Command): void {
  command.exitOverride().configureOutput({ outputError: (text) => void say(oneLine(text), exitCodes.usage) });
  for (const child of command.commands) withoutExit(child);
}

/** Commander's own words: `error: …`, sometimes with a suggestion on a second line. */
const oneLine = (text: string): string =>
  `${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')} (--help tells more)`;

function report(error: unknown): number {
  // Commander has said what was wrong; help and version are no mistakes.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) return say(error.message, exitCodes.usage);
  if (error instanceof ConfigError || error instanceof SchemaError)
    return say(describeFailure(error), exitCodes.config);
  if (error instanceof DomainError || isRefusal(error)) return say(describeFailure(error), exitCodes.failed);
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return say(
      `${error.message}: another program listens there; set KEYREEVE_PORT or KEYREEVE_ADMIN_PORT`,
      exitCodes.failed,
    );
  }
  // What the operating system refuses is no mistake in the program: a file, an address, a name.
  if (error instanceof Error && 'syscall' in error) return say(error.message, exitCodes.failed);
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failed);
}

function say(message: string, status: number): number {
  process.stderr.write(`keyreeve: ${message}\n`);
  return status;
}
