/** Broken builds of the library: textual edits of its sources, each of which breaks one rule. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyEdits } from '../../server/test/revocation-check/mutant-run.ts';
import type { Edit } from '../../server/test/revocation-check/mutant-edits.ts';

const packages = fileURLToPath(new URL('../../', import.meta.url));

export interface Mutant {
  readonly name: string;
  /** The start of the name of the rule that detects it. */
  readonly rule: string;
  readonly edits: readonly Edit[];
}

/** A copy of the library and its test program, which shares the installed packages with the checkout. @returns its folder */
export function makeCopy(folder: string, edits: readonly Edit[]): string {
  const copy = join(folder, 'packages/client');
  cpSync(join(packages, 'client'), copy, { recursive: true });
  symlinkSync(join(packages, '../node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of editedFiles(edits)) writeFileSync(join(copy, 'src', file), text);
  return copy;
}

/** @throws AssertionError if the text of an edit does not occur exactly once */
export const editedFiles = (edits: readonly Edit[]): ReadonlyMap<string, string> =>
  applyEdits(edits, (file) => readFileSync(join(packages, 'client/src', file), 'utf8'));

const join1 = `    const last = this.#joinable.get(question.environments);\n`;

/** Each accepts deleted keys, or returns the results of other credentials. */
export const unsafeMutants: readonly Mutant[] = [
  {
    name: 'an equal question joins a batch in flight (rules 1 and 3)',
    rule: 'a question does not join a batch',
    edits: [
      {
        file: 'batch-sender.ts',
        find: join1,
        replace: `    const flying = (this as any).flying as Batch | undefined;
    if (question.isFree && flying?.cancel && flying.add(question, waiter)) return flying;\n${join1}`,
      },
      {
        file: 'batch-sender.ts',
        find: `    let entries = batch.open();\n`,
        replace: `    let entries = batch.open();\n    (this as any).flying = batch;\n`,
      },
      {
        file: 'batch.ts',
        find: `    else {\n      const bytes`,
        replace: `    else if (this.cancel) return false;\n    else {\n      const bytes`,
      },
    ],
  },
  {
    name: 'a result is kept for 100 ms (rule 2)',
    rule: 'a question after an answer',
    edits: [
      {
        file: 'client.ts',
        find: `export class Client`,
        replace: `const kept = new Map<string, any>();\nexport class Client`,
      },
      {
        file: 'client.ts',
        find: `      const result = await this.#sender.ask(question, options);\n`,
        replace: `      const found = kept.get(question.text);
      if (found) return found;
      const result = await this.#sender.ask(question, options);
      kept.set(question.text, result);
      setTimeout(() => kept.delete(question.text), 100);\n`,
      },
    ],
  },
  {
    name: 'results are matched in another order (rule 7)',
    rule: 'at most two batches',
    edits: [
      {
        file: 'batch-sender.ts',
        find: `settle(batch, entry, results[index]);`,
        replace: `settle(batch, entry, results[(index + 1) % results.length]);`,
      },
    ],
  },
];

/** Found by the tests of the rules. */
export const ruleMutants: readonly Mutant[] = [
  ...unsafeMutants,
  {
    name: 'results are not counted (rule 7)',
    rule: 'an answer with another number',
    edits: [
      { file: 'verification-result.ts', find: `if (results.length !== count)`, replace: `if (results.length < count)` },
    ],
  },
  {
    name: 'equal questions with a cost share an entry (rule 3)',
    rule: 'equal questions share an entry',
    edits: [
      {
        file: 'batch.ts',
        find: `question.isFree ? this.#free.get(question.text) : undefined`,
        replace: `this.#free.get(question.text)`,
      },
      { file: 'batch.ts', find: `if (question.isFree) this.#free.set`, replace: `this.#free.set` },
    ],
  },
  {
    name: 'questions with other environments join a batch (rule 11)',
    rule: 'questions with other environments',
    edits: [{ file: 'batch-sender.ts', find: join1, replace: `    const last = this.#unsent.at(-1);\n` }],
  },
  {
    name: 'a question with a cost is repeated (rule 4)',
    rule: 'free questions are repeated once',
    edits: [{ file: 'batch-sender.ts', find: `.filter(({ question }) => question.isFree)`, replace: `` }],
  },
  {
    name: 'a question is repeated after a part of the response (rule 4)',
    rule: 'a free question is not repeated after',
    edits: [{ file: 'batch-sender.ts', find: `error instanceof Unanswered ?`, replace: `error instanceof Error ?` }],
  },
  {
    name: 'a question is repeated on a connection that was open (rule 4)',
    rule: 'a repeated question uses no connection',
    edits: [{ file: 'node-transport.ts', find: `isRepeated ? { agent: false } : { agent }`, replace: `{ agent }` }],
  },
  {
    name: 'close ends verifications in flight',
    rule: 'close ends idle connections',
    edits: [
      { file: 'node-transport.ts', find: `close: () => closeIdle(agent)`, replace: `close: () => agent.destroy()` },
    ],
  },
  {
    name: 'a question is repeated twice (rule 4)',
    rule: 'a free question is repeated once only',
    edits: [
      {
        file: 'batch-sender.ts',
        find: `      return [repeatable, await transport.send(repeated, batch)];`,
        replace: `      const again = () => transport.send(repeated, batch);
      return [repeatable, await again().catch(again)];`,
      },
    ],
  },
  {
    name: 'a deadline of 30 s (rule 5)',
    rule: 'after 3 s without a result',
    edits: [{ file: 'question.ts', find: `deadlineMs = 3_000`, replace: `deadlineMs = 30_000` }],
  },
  {
    name: 'a request stays open without a caller (rule 5)',
    rule: 'after 3 s without a result',
    edits: [
      {
        file: 'batch.ts',
        find: `if (--this.#waiting === 0) this.cancel?.();`,
        replace: `this.#waiting--;`,
      },
    ],
  },
  {
    name: 'three batches in flight (rule 6)',
    rule: 'at most two batches',
    edits: [{ file: 'in-flight.ts', find: `min = 2`, replace: `min = 3` }],
  },
  {
    name: 'a fixed number of batches in flight (rule 6)',
    rule: 'the batches in flight follow',
    edits: [{ file: 'in-flight.ts', find: `max = 16`, replace: `max = 2` }],
  },
  {
    name: 'more batches in flight for a service that only gets slower (rule 6)',
    rule: 'a service that works on one batch',
    edits: [{ file: 'in-flight.ts', find: `this.#lastMs === 0 ? max :`, replace: `this.#lastMs >= 0 ? max :` }],
  },
  {
    name: 'batches that are not full are sent beside two others (rule 6)',
    rule: 'questions wait for a third batch',
    edits: [{ file: 'in-flight.ts', find: `(fullWaits ? this.#limit : min)`, replace: `max` }],
  },
  {
    name: 'late questions are sent (rule 6)',
    rule: 'in an overload',
    edits: [{ file: 'batch-sender.ts', find: `if (fullWaits) this.#failLate(batch);`, replace: `` }],
  },
  {
    name: 'each failure is logged',
    rule: 'an outage has one message per minute',
    edits: [{ file: 'outage-log.ts', find: `periodMs = 60_000`, replace: `periodMs = 0` }],
  },
  {
    name: '257 questions in a batch (rule 6)',
    rule: 'at most two batches',
    edits: [{ file: 'batch.ts', find: `questionsMax = 256`, replace: `questionsMax = 257` }],
  },
  {
    name: 'batches without a bound of bytes (rule 6)',
    rule: 'a batch has less bytes',
    edits: [{ file: 'batch.ts', find: `bytesMax = 1_000_000`, replace: `bytesMax = 1e9` }],
  },
  {
    name: 'one question more waits (rule 6)',
    rule: 'when 16,384 verifications wait',
    edits: [{ file: 'batch-sender.ts', find: `waitingMax = 16_384`, replace: `waitingMax = 16_385` }],
  },
  {
    name: 'a credential of 4,097 bytes is sent (rule 8)',
    rule: 'text that cannot be a credential',
    edits: [{ file: 'question.ts', find: `credentialBytesMax = 4_096`, replace: `credentialBytesMax = 4_097` }],
  },
  {
    name: 'the prefix of a credential is checked (rule 8)',
    rule: 'text that cannot be a credential',
    edits: [{ file: 'question.ts', find: `  text !== '' &&`, replace: `  text.startsWith('krv') &&` }],
  },
  {
    name: 'plain HTTP to any host (rule 10)',
    rule: 'plain HTTP',
    edits: [{ file: 'service-url.ts', find: ` && !allowPlainHttp)`, replace: ` && !allowPlainHttp && url === '')` }],
  },
  {
    name: 'a host that begins like loopback counts as loopback (rule 10)',
    rule: 'plain HTTP',
    edits: [{ file: 'service-url.ts', find: `|\\[::1\\])$/`, replace: `|\\[::1\\])/` }],
  },
  {
    name: 'a status other than 200 is read (rule 10)',
    rule: 'a redirect is not followed',
    edits: [{ file: 'batch-sender.ts', find: `answer.status !== okStatus`, replace: `answer.status >= 400` }],
  },
  {
    name: 'fetch follows redirects (rule 10)',
    rule: 'a redirect is not followed',
    edits: [{ file: 'fetch-transport.ts', find: `redirect: 'manual'`, replace: `redirect: 'follow'` }],
  },
];
