/** A pseudo-terminal, by util-linux's `script` or Python's `pty`. */
import { spawn, spawnSync } from 'node:child_process';
import { Program } from './program.ts';

const python = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])))';

/** @returns the command that runs a line of shell on a terminal; undefined without these programs */
function terminalFor(line: string): readonly [string, ...string[]] | undefined {
  const script = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (script.stdout?.includes('util-linux')) return ['script', '-qefc', line, '/dev/null'];
  const { status } = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode']);
  return status === 0 ? ['python3', '-c', python, line] : undefined;
}

/** The reason to skip a test that needs a terminal; false if one is available, and in CI. */
export const noTerminal: string | false =
  process.env['CI'] !== 'true' && terminalFor('true') === undefined
    ? 'needs a pseudo-terminal: util-linux `script` or python3'
    : false;

export class Terminal extends Program {
  /** The end of the last text that was awaited. */
  #position = 0;

  static start(line: string, folder: string, environment: Readonly<Record<string, string>>): Terminal {
    // Replaces the shell, which Ctrl-C would end with another status than the command.
    const replaced = `exec ${line}`;
    const [command, ...args] = terminalFor(replaced) ?? ['script', '-qefc', replaced, '/dev/null'];
    return new Terminal(spawn(command, args, { cwd: folder, env: { ...environment, SHELL: '/bin/sh' } }), folder);
  }

  /** Types a text after the question appears. */
  async answer(question: string, text: string): Promise<void> {
    await this.shows(question);
    this.child.stdin?.write(text);
  }

  /** Waits for a text. @throws Error with the output if the text does not appear */
  async shows(text: string): Promise<void> {
    this.#position = await this.waitFor(`“${text}”`, () => {
      const found = this.stdout.indexOf(text, this.#position);
      return found < 0 ? undefined : found + text.length;
    });
  }
}
