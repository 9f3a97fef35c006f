/**
 * The journal of deletions: files apart from the database, so that restoring an older backup revives nothing.
 *
 * What is revoked is written here after its commit and before its answer. The audit trail says the same, so whatever a
 * process that died, or a full disk, has kept from the journal is brought in from there: {@link DeletionJournal.catchUp}.
 */
import { listRevocationEvents, newestEventId, newestEventIdBefore } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { Db, Reader } from '../db/db.ts';
import { DomainError } from '../errors.ts';
import { JournalError, JournalFile, readJournal, readPosition, writePosition, type JournalKeys } from './files.ts';
import { identityOf, revocationsOf, type Revocation, type Revocations } from './revocation.ts';

/** Events that are read at once. */
const eventsPerRead = 20_000;
/** By then a transaction that has taken an event's id has ended, and clocks differ by less. */
const settledMs = 600_000;
/** Clocks of file systems may differ from ours by less. */
const fileClockMs = 3_600_000;
const catchUpEveryMs = 600_000;
const retryMs = 5_000;

export interface DeletionJournalOptions {
  readonly folder: string;
  readonly db: Db;
  readonly clock: Clock;
  readonly keys: JournalKeys;
}

interface Waiting {
  readonly revocations: readonly Revocation[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class DeletionJournal implements Revocations {
  readonly folder: string;
  readonly #options: DeletionJournalOptions;
  #file: JournalFile | undefined;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #onFailure: ((error: unknown) => void) | undefined;

  constructor(options: DeletionJournalOptions) {
    this.folder = options.folder;
    this.#options = options;
  }

  record(revocations: readonly Revocation[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ revocations, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  lookSoon(): void {
    this.#schedule(retryMs);
  }

  /**
   * Brings in what the audit trail records and the journal lacks.
   * @param reader of the trail; the database unless given
   * @throws JournalError, Error of the file system, DomainError `unavailable`
   */
  async catchUp(reader: Reader = this.#options.db): Promise<void> {
    const { folder, clock, keys } = this.#options;
    const now = clock.now();
    const position = (await readPosition(folder, keys))?.event ?? 0;
    // A trail that ends before is another one: that of a database which was made anew.
    const from = position <= (await newestEventId(reader)) ? position : 0;
    const settled = await newestEventIdBefore(reader, now - settledMs);
    let known: Set<string> | undefined;
    for await (const revocations of revocationsAfter(reader, from)) {
      known ??= await this.#identitiesSince((revocations[0]?.at ?? 0) - fileClockMs);
      const missing = revocations.filter((revocation) => !known?.has(identityOf(revocation)));
      if (missing.length > 0) await this.record(missing);
    }
    await writePosition(folder, keys, { event: Math.max(from, settled), at: now });
  }

  /**
   * Catches up now and from time to time, sooner after a failure: for a process that runs for long.
   * @throws what {@link catchUp} throws, the first time
   */
  async keepUp(onFailure: (error: unknown) => void): Promise<void> {
    await this.catchUp();
    this.#onFailure = onFailure;
    this.#schedule(catchUpEveryMs);
  }

  /** Finishes what is under way. */
  stop(): void {
    this.#onFailure = undefined;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#onFailure) this.#timer = setTimeout(() => void this.#catchUpAgain(), ms).unref();
  }

  async #catchUpAgain(): Promise<void> {
    try {
      await this.catchUp();
      this.#schedule(catchUpEveryMs);
    } catch (error) {
      this.#onFailure?.(error);
      this.#schedule(retryMs);
    }
  }

  /** What comes while the disk is waited for shares the next wait. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        this.#file ??= new JournalFile(this.folder, this.#options.keys);
        await this.#file.append(together.flatMap(({ revocations }) => revocations));
        for (const { resolve } of together) resolve();
      } catch (error) {
        this.#file = undefined;
        // The trail has them: they are brought in from there as soon as it goes again.
        this.#onFailure?.(error);
        this.#schedule(retryMs);
        for (const { reject } of together) reject(unwritten(error));
      }
    }
    this.#isWriting = false;
  }

  async #identitiesSince(since: number): Promise<Set<string>> {
    const found = new Set<string>();
    try {
      for await (const revocation of readJournal(this.folder, this.#options.keys, since))
        found.add(identityOf(revocation));
    } catch (error) {
      // What can't be believed is written again: to say a thing twice does no harm.
      if (!(error instanceof JournalError)) throw error;
    }
    return found;
  }
}

/** What the audit trail records after an event, in batches of bounded size, none of them empty. */
export async function* revocationsAfter(reader: Reader, event: number): AsyncGenerator<Revocation[]> {
  const newest = await newestEventId(reader);
  for (let after = event; after < newest; after += eventsPerRead) {
    const until = Math.min(after + eventsPerRead, newest);
    const revocations = (await listRevocationEvents(reader, after, until)).flatMap(revocationsOf);
    if (revocations.length > 0) yield revocations;
  }
}

const unwritten = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail: 'It is done and holds, but the journal of deletions can’t be written at the moment.',
    retryAfterSeconds: 1,
    cause,
  });
