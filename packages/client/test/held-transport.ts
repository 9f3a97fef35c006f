/**
 * A transport without a network, whose batches the test answers. Everything that a batch causes happens within a few turns of the
 * event loop, so a test also sees what does not happen.
 */
import type { Answer, BatchRequest, Canceller, Transport } from '../src/transport.ts';

export interface Question {
  readonly credential: string;
  readonly cost?: number;
}

interface SentBatch {
  readonly questions: readonly Question[];
  readonly authorization: string;
  /** Whether its request was ended. */
  isCancelled: boolean;
  /** Default: each credential is accepted, and the account has its name. */
  answer(results?: readonly object[]): void;
  /** Answers without results. */
  refuse(answer: Answer): void;
}

export const nameOf = ({ credential }: Question): object => ({
  valid: true,
  type: 'api_key',
  accountId: credential,
});
export const questionsOf = (body: string): readonly Question[] =>
  (JSON.parse(body) as { questions: Question[] }).questions;

export class HeldTransport implements Transport {
  readonly sent: SentBatch[] = [];

  send({ body, authorization }: BatchRequest, canceller: Canceller): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const questions = questionsOf(body);
    const batch: SentBatch = {
      questions,
      authorization,
      isCancelled: false,
      answer: (results = questions.map(nameOf)) => resolve({ status: 200, text: JSON.stringify({ results }) }),
      refuse: resolve,
    };
    canceller.cancel = () => {
      batch.isCancelled = true;
      reject(new Error('the request was ended'));
    };
    this.sent.push(batch);
    return promise;
  }

  soon(run: () => void): void {
    setImmediate(run);
  }

  close(): void {
    return;
  }
}

/** Waits until all that can happen without the network, the test or a timer has happened. */
export async function settled(): Promise<void> {
  // A batch that ends lets the next one start in the turn after it.
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
