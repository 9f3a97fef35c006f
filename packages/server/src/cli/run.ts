/** Runs one command. Every error becomes a message on standard error and an exit status. */
import { CommanderError, type Command } from 'commander';
import { ConfigError } from '../app/configuration/config.ts';
import { SchemaError } from '../foundation/database/migrate.ts';
import { DomainError } from '../foundation/errors.ts';
import { closedPipeStatus, OutputClosedError } from './closed-pipe.ts';
import { describeFailure, isRefusal, UsageError } from './failure.ts';
import { createProgram } from './program.ts';

/** `usage` and `config` have the values of sysexits.h. */
const exitCodes = { ok: 0, failed: 1, usage: 64, config: 78 } as const;

/**
 * @param lower see `createProgram`
 * @returns the exit status
 */
export async function run(args: readonly string[], lower?: () => void): Promise<number> {
  let code: number = exitCodes.ok;
  const program = createProgram((status) => (code = status), lower);
  throwErrors(program);
  try {
    await program.parseAsync(withHelpOption(args), { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error);
  }
}

/** `help key create` as `key create --help`: commander reads only the first name after `help`. */
function withHelpOption(args: readonly string[]): readonly string[] {
  const [first, ...names] = args;
  return first === 'help' && names.length > 1 ? [...names, '--help'] : args;
}

/** Makes commander throw its errors instead of ending the process, and print each as one line. */
function throwErrors(command: Command): void {
  command.exitOverride().configureOutput({ outputError: (text) => void printError(oneLine(text), exitCodes.usage) });
  for (const child of command.commands) throwErrors(child);
}

/** Commander's messages begin with `error: ` and can have a suggestion on a second line. */
const oneLine = (text: string): string =>
  `${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')} (see --help)`;

function reportError(error: unknown): number {
  // Commander has already printed its message. The help and the version are not errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof OutputClosedError) return closedPipeStatus;
  if (error instanceof UsageError) return printError(error.message, exitCodes.usage);
  if (error instanceof ConfigError || error instanceof SchemaError)
    return printError(describeFailure(error), exitCodes.config);
  if (error instanceof DomainError || isRefusal(error)) return printError(describeFailure(error), exitCodes.failed);
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return printError(
      `${error.message}: another program uses this port; set KEYREEVE_PORT or KEYREEVE_ADMIN_PORT`,
      exitCodes.failed,
    );
  }
  // An error of the operating system needs no stack trace: a missing file, an unknown host name.
  if (error instanceof Error && 'syscall' in error) return printError(describeFailure(error), exitCodes.failed);
  return printError(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failed);
}

function printError(message: string, status: number): number {
  process.stderr.write(`keyreeve: ${message}\n`);
  return status;
}
