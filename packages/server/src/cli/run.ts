/** Runs one command. Every error becomes a message on standard error, in JSON with `--json`, and an exit status. */
import { CommanderError, type Command } from 'commander';
import { closedPipeStatus, OutputClosedError } from './closed-pipe.ts';
import { exitCodes, reportOf, usageReport, type FailureReport } from './failure-report.ts';
import { jsonLine, withoutControls } from './output.ts';
import { createProgram } from './program.ts';

/**
 * @param lower see `createProgram`
 * @returns the exit status
 */
export async function run(args: readonly string[], lower?: () => void): Promise<number> {
  let code: number = exitCodes.ok;
  const program = createProgram((status) => (code = status), lower);
  // The parser can fail before it reads the option.
  const isJson = args.includes('--json');
  throwErrors(program, isJson);
  try {
    await program.parseAsync(withHelpOption(args), { from: 'user' });
    return code;
  } catch (error) {
    // Commander has already printed its message. The help and the version are not errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof OutputClosedError) return closedPipeStatus;
    return printFailure(reportOf(error), isJson);
  }
}

/** `help key create` as `key create --help`: commander reads only the first name after `help`. */
function withHelpOption(args: readonly string[]): readonly string[] {
  const [first, ...names] = args;
  return first === 'help' && names.length > 1 ? [...names, '--help'] : args;
}

/** Makes commander throw its errors instead of ending the process, and print each as one line. */
function throwErrors(command: Command, isJson: boolean): void {
  command
    .exitOverride()
    .configureOutput({ outputError: (text) => void printFailure(usageReport(oneLine(text)), isJson) });
  for (const child of command.commands) throwErrors(child, isJson);
}

/** Commander's messages begin with `error: ` and can have a suggestion on a second line. */
const oneLine = (text: string): string =>
  `${text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ')} (see --help)`;

/** @returns the exit status */
function printFailure(report: FailureReport, isJson: boolean): number {
  process.stderr.write(isJson ? jsonLine(report) : `keyreeve: ${withoutControls(report.detail)}\n`);
  return report.exitCode;
}
