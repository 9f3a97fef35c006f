/** The messages to the writer thread of SQLite. */
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

/**
 * @param onMessage called before a message is sent, with its number; false drops it
 * @returns the steps of each message from now on, such as `begin savepoint run`
 */
export function watchWriterMessages(
  t: TestContext,
  onMessage: (worker: Worker, number: number) => boolean = () => true,
): string[] {
  const messages: string[] = [];
  const post = Reflect.get(Worker.prototype, 'postMessage') as (...args: unknown[]) => unknown;
  t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, message: unknown): unknown {
    // Hashing threads get other messages.
    const mayPass = !Array.isArray(message) || onMessage(this, messages.push(namesOf(message)));
    return mayPass ? Reflect.apply(post, this, [message]) : undefined;
  });
  return messages;
}

const namesOf = (steps: readonly (readonly [string])[]): string => steps.map(([kind]) => kind).join(' ');
