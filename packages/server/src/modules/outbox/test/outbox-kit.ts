/** For tests of the outbox: a worker on a database, and jobs for it. */
import type { Timers } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { Handler, JobKind } from '../job.ts';
import { Outbox, type OutboxOptions } from '../outbox.ts';
import * as store from '../store.ts';
import type { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { keys } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';

type Failure = Parameters<NonNullable<OutboxOptions['onFailure']>>[0];

export interface Worker extends AsyncDisposable {
  readonly outbox: Outbox;
  readonly failures: Failure[];
  /** Commits one job for each payload. */
  readonly put: (queue: string, ...payloads: readonly string[]) => Promise<void>;
}

export function newWorker(
  db: Db,
  clock: FakeClock,
  handler: Handler,
  { kind = 'mail', timers }: { readonly kind?: JobKind; readonly timers?: Timers } = {},
): Worker {
  const failures: Failure[] = [];
  const outbox = new Outbox({
    db,
    clock,
    ...(timers && { timers }),
    seal: keys.outboxSeal,
    onFailure: (failure) => void failures.push(failure),
  });
  outbox.handle(kind, handler);
  const put = async (queue: string, ...payloads: readonly string[]): Promise<void> => {
    const rows = payloads.map((payload) => outbox.prepare('mail', queue, payload));
    await db.transaction(async (tx) => {
      for (const row of rows) await store.insertJobTx(tx, row);
    });
    outbox.pollSoon();
  };
  return { outbox, failures, put, [Symbol.asyncDispose]: () => outbox.stop() };
}

export const isEmpty = async (db: Db): Promise<boolean> => (await store.countJobs(db, 1)).length === 0;

/** Waits until all jobs are done, also those whose commit failed on a busy machine and that are due again later. */
export async function untilEmpty(db: Db, { outbox }: Worker, clock: FakeClock): Promise<void> {
  await until('all jobs are done', async () => {
    if (await isEmpty(db)) return true;
    // The claim of a running job must not end.
    if (outbox.runningCount === 0) clock.advance({ seconds: 5 });
    outbox.pollSoon();
    return false;
  });
}

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
