/** Asks for confirmation of a change that cannot be undone. */
import { UsageError } from './failure.ts';
import { visible } from './output.ts';
import { promptLine } from './prompt.ts';

export const yesHelp = 'do not ask for confirmation';

/** @throws UsageError unless the answer is yes, and where standard input is not a terminal */
export async function confirm(text: string, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  if (yes) return;
  const question = visible(text);
  if (!process.stdin.isTTY)
    throw new UsageError(`${question} Standard input is not a terminal, so the command cannot ask; add --yes`);
  let answer: string;
  try {
    answer = await promptLine(`${question} (yes or no) `);
  } catch {
    // Ctrl-C or Ctrl-D, after which the cursor is still on the line of the question.
    process.stderr.write('\n');
    answer = '';
  }
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new UsageError('nothing was changed');
}
