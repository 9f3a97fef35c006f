/** Messages to the worker threads of this process: the writer of SQLite and the hashing threads. */
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from '../src/foundation/database/sql.ts';
import type { TestApp } from './new-app.ts';
import { until } from './until.ts';

const countNotices = sql<{ count: number }>('test_count_notices', 'select count(*) as count from expiry_notices');

/** @param mayPass called before each message is sent; false drops it */
export function watchMessages(t: TestContext, mayPass: (thread: Worker, message: unknown) => boolean): void {
  const post = Reflect.get(Worker.prototype, 'postMessage') as (...args: unknown[]) => unknown;
  t.mock.method(Worker.prototype, 'postMessage', function (this: Worker, message: unknown): unknown {
    return mayPass(this, message) ? Reflect.apply(post, this, [message]) : undefined;
  });
}

/**
 * @param mayPass called before a message to the writer is sent, with its number from 1; false drops it
 * @returns the steps of each message from now on, such as `begin savepoint run`
 */
export function watchWriterMessages(
  t: TestContext,
  mayPass: (thread: Worker, number: number) => boolean = () => true,
): string[] {
  const messages: string[] = [];
  // Only the writer gets lists.
  watchMessages(t, (thread, message) => !Array.isArray(message) || mayPass(thread, messages.push(namesOf(message))));
  return messages;
}

/** The housekeeping at the start sends messages, too: at last, for the progress of the two expiry notices. */
export const untilHousekeepingHasEnded = ({ db }: TestApp): Promise<void> =>
  until('the housekeeping at the start has ended', async () => (await db.get(countNotices))?.count === 2);

const namesOf = (steps: readonly (readonly [string])[]): string => steps.map(([kind]) => kind).join(' ');

/**
 * @param isSilent whether messages do not reach the threads
 * @returns the threads that messages are sent to from now on, except the writer
 */
export function watchHashingThreads(t: TestContext, isSilent = (): boolean => false): Set<Worker> {
  const threads = new Set<Worker>();
  watchMessages(t, (thread, message) => Array.isArray(message) || (threads.add(thread) && !isSilent()));
  return threads;
}
