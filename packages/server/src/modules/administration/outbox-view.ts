/** The outbox as administrators read it: how many jobs wait, and why some fail. Never the content of a job. */
import { limits, type OutboxPage } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { findLastListed, listJobs, type ListedJob } from '../outbox/store.ts';

export interface OutboxSearch extends PageRequest {
  readonly kind?: string;
  readonly state?: 'waiting' | 'failing';
}

interface OutboxViewOptions extends Core {
  readonly outbox: Outbox;
}

export class OutboxView {
  readonly #options: OutboxViewOptions;

  constructor(options: OutboxViewOptions) {
    this.#options = options;
  }

  /** @throws DomainError `invalid_request` for an invalid cursor */
  async page({ kind = '', state, limit, cursor }: OutboxSearch): Promise<OutboxPage> {
    const after = cursor === undefined ? '' : fromCursor(cursor, isJobId);
    const part = { after, searchedMax: limits.adminRowsPerPageMax, limit: sizeOf(limit) };
    const filter = { kind, isFailing: state === undefined ? undefined : state === 'failing' };
    const jobs = await listJobs(this.#options.db, filter, part);
    const last = jobs.length === part.limit ? jobs.at(-1)?.id : await findLastListed(this.#options.db, part);
    const now = this.#options.clock.now();
    const kinds = (await this.#options.outbox.waiting()).map(({ oldestMs, ...counted }) => ({
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
