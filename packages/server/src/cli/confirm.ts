/** Asking before something that can't be undone. */
import { read } from 'read';
import { UsageError } from './failure.ts';

/** @throws UsageError unless the answer is yes, and where there is no terminal to ask on */
export async function confirm(question: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`${question} There is no terminal to ask on; say --yes`);
  const answer = await read({ prompt: `${question} (yes or no) `, output: process.stderr });
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('nothing was changed');
}
