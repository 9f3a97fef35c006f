/** Reads one line from the terminal. The prompt goes to standard error, because standard output is for results. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { read } from 'read';

/** @throws Error when the user ends the input with Ctrl-C or Ctrl-D */
export const promptLine = (prompt: string, { silent = false } = {}): Promise<string> =>
  Promise.race([read({ prompt, silent, output: process.stderr }), closed()]);

/** `read` does not report Ctrl-D: it pauses standard input. It also does that just before it returns a line. */
async function closed(): Promise<never> {
  await once(process.stdin, 'pause');
  await setImmediate();
  throw new Error('the input has ended');
}
