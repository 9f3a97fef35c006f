/** The outbox as administrators read it: how many jobs wait, and why some fail. Never the content of a job. */
import { limits, type OutboxPage } from '@keyreeve/contract';
import { toInstant, type Clock } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Db } from '../../foundation/database/db.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { findLastListed, listJobs, type ListedJob } from '../outbox/store.ts';

export interface OutboxSearch extends PageRequest {
  readonly kind?: string;
  readonly state?: 'waiting' | 'failing';
}

export class OutboxView {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #outbox: Outbox;

  constructor(db: Db, clock: Clock, outbox: Outbox) {
    this.#db = db;
    this.#clock = clock;
    this.#outbox = outbox;
  }

  /** @throws DomainError `invalid_request` for an invalid cursor */
  async page({ kind = '', state, limit, cursor }: OutboxSearch): Promise<OutboxPage> {
    const after = cursor === undefined ? '' : fromCursor(cursor, isJobId);
    const part = { after, searchedMax: limits.adminRowsPerPageMax, limit: sizeOf(limit) };
    const filter = { kind, isFailing: state === undefined ? undefined : state === 'failing' };
    const jobs = await listJobs(this.#db, filter, part);
    const last = jobs.length === part.limit ? jobs.at(-1)?.id : await findLastListed(this.#db, part);
    const now = this.#clock.now();
    const kinds = (await this.#outbox.waiting()).map(({ oldestMs, ...counted }) => ({
      ...counted,
      oldestAt: toInstant(now - oldestMs),
    }));
    return { kinds, jobs: jobs.map(toJob), nextCursor: last === undefined ? null : toCursor(last) };
  }
}

const isJobId = (text: string): boolean => /^[!-~]{1,100}$/.test(text);

const toJob = ({ id, kind, queue, createdAt, dueAt, attempts, lastError }: ListedJob): OutboxPage['jobs'][number] => ({
  id,
  kind,
  webhookId: kind === 'webhook' ? queue.slice(queue.indexOf(':') + 1) : null,
  createdAt: toInstant(createdAt),
  attempts,
  nextAttemptAt: toInstant(dueAt),
  lastFailure: lastError,
});
