/** A pseudo-terminal for tests, by util-linux's `script` or Python's `pty`: a command in it believes that a person is there. */
import { spawn, spawnSync } from 'node:child_process';
import { Program } from './program.ts';

const python = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", sys.argv[1]])))';

/** The command line that runs a line for the shell on a terminal; undefined where there is nothing to make one with. */
function terminalFor(line: string): readonly [string, ...string[]] | undefined {
  const script = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (script.stdout?.includes('util-linux')) return ['script', '-qefc', line, '/dev/null'];
  const { status } = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode']);
  return status === 0 ? ['python3', '-c', python, line] : undefined;
}

/** Why a test that needs a terminal is skipped; false where there is one. In CI it is never skipped. */
export const noTerminal: string | false =
  process.env['CI'] !== 'true' && terminalFor('true') === undefined
    ? 'needs a pseudo-terminal: util-linux `script` or python3'
    : false;

export class Terminal extends Program {
  /** Where what has been waited for ends. */
  #seen = 0;

  static start(line: string, folder: string, environment: Readonly<Record<string, string>>): Terminal {
    // In the shell's place: one that waits for a command dies of the Ctrl-C that the command answers with 0.
    const replaced = `exec ${line}`;
    const [command, ...args] = terminalFor(replaced) ?? ['script', '-qefc', replaced, '/dev/null'];
    return new Terminal(spawn(command, args, { cwd: folder, env: { ...environment, SHELL: '/bin/sh' } }), folder);
  }

  /** Types, as a person would: after having read what is asked. */
  async answer(question: string, text: string): Promise<void> {
    await this.shows(question);
    this.child.stdin?.write(text);
  }

  /** @throws Error with all that the terminal shows when the text doesn't come */
  async shows(text: string): Promise<void> {
    this.#seen = await this.waitFor(`“${text}”`, () => {
      const found = this.stdout.indexOf(text, this.#seen);
      return found < 0 ? undefined : found + text.length;
    });
  }
}
