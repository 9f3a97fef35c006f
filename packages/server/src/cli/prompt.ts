/** Reads one line from the terminal. The prompt goes to standard error, so that standard output holds results alone. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { read } from 'read';

/** @throws Error when the user ends the input with Ctrl-C or Ctrl-D */
export const promptLine = (prompt: string, { silent = false } = {}): Promise<string> =>
  Promise.race([read({ prompt, silent, output: process.stderr }), closed()]);

/** `read` does not report Ctrl-D: it stops listening, which it also does after a line, just before it returns that. */
async function closed(): Promise<never> {
  await once(process.stdin, 'pause');
  await setImmediate();
  throw new Error('the input has ended');
}
