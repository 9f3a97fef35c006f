/**
 * The deletion journal: files apart from the database, so that restoring an older backup revives no deleted credential.
 *
 * A deletion is written here after its commit and before its response. The audit log records it too, so
 * {@link DeletionJournal.catchUp} adds entries that are missing after a crash or on a full disk.
 */
import { cutTimeOf, listCuts } from '../audit/cut-store.ts';
import { findEventMark, listRevocationEventsAt, newestEventAt, newestEventIdBefore } from '../audit/store.ts';
import type { Core } from '../../foundation/core.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import type { Reader } from '../../foundation/database/db.ts';
import { runAsSystem } from '../../foundation/database/share.ts';
import { DomainError } from '../../foundation/errors.ts';
import {
  hasAllChanges,
  JournalFile,
  readJournal,
  readPosition,
  writePosition,
  type JournalError,
  type JournalKeys,
  type Position,
} from './files.ts';
import { changeKinds, identityOf, isChange, revocationsOf, type Revocation, type Revocations } from './revocation.ts';
import { findLostRecords, hasLost, revocationsAfter, type LostRecords } from './lost-records.ts';

/** Longer than any transaction that has an event id, and than any difference between clocks. */
const settledMs = 600_000;
/** Longer than any difference between the clock of a file system and that of this host. */
const fileClockMs = 3_600_000;
const catchUpEveryMs = 600_000;
const retryMs = 5_000;

export interface DeletionJournalOptions extends Core {
  readonly folder: string;
  readonly keys: JournalKeys;
}

/** Receives the results of catching up in the background. */
export interface JournalListener {
  readonly onFailure: (error: unknown) => void;
  /** Called for each untrustworthy file, each time. */
  readonly onDamage: (error: JournalError) => void;
  readonly onLost: (forgotten: LostRecords) => void;
}

interface PendingWrite {
  readonly revocations: readonly Revocation[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class DeletionJournal implements Revocations {
  readonly folder: string;
  readonly #options: DeletionJournalOptions;
  #file: JournalFile | undefined;
  #pending: PendingWrite[] = [];
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #listener: JournalListener | undefined;
  /** The number of failures, and the times of the first one since the journal was complete and of the write in progress. */
  readonly #state: { failures: number; behindSinceMs: number | undefined; writingSinceMs: number | undefined } = {
    failures: 0,
    behindSinceMs: undefined,
    writingSinceMs: undefined,
  };
  /** Paths of untrustworthy files whose entries were written again from the audit log. */
  readonly #damaged = new Set<string>();

  constructor(options: DeletionJournalOptions) {
    this.folder = options.folder;
    this.#options = options;
  }

  /** For how long the journal has lacked entries, in milliseconds; 0 if it is complete. */
  get lagMs(): number {
    const sinceMs = this.#state.behindSinceMs ?? this.#state.writingSinceMs;
    return sinceMs === undefined ? 0 : monotonicMs() - sinceMs;
  }

  record(revocations: readonly Revocation[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ revocations, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async recordChanges(accountId: string, at: number): Promise<void> {
    const { db } = this.#options;
    const events = await listRevocationEventsAt(db, accountId, at).catch((error: unknown) => {
      this.catchUpSoon();
      throw error;
    });
    const changes = events.flatMap(revocationsOf).filter(({ kind }) => isChange(kind));
    if (changes.length > 0) await this.record(changes);
  }

  catchUpSoon(): void {
    this.#recordFailure();
    this.#schedule(retryMs);
  }

  /**
   * Adds entries that the audit log has and the journal lacks, and finds records that the database has lost. The
   * entries of a damaged file are written again from the audit log, so an operator can move the file away without
   * losing any.
   * @returns the records that the database has lost; the position does not advance then
   * @throws JournalError for a `position.json` of another installation, Error of the file system, DomainError
   *   `unavailable`
   */
  async catchUp(onDamage?: (error: JournalError) => void): Promise<LostRecords> {
    const { folder, db, clock, keys } = this.#options;
    const { failures } = this.#state;
    const at = clock.now();
    const damage: JournalError[] = [];
    const { position, isSameLog } = await this.#positionIn(db);
    const from = isSameLog ? position.event : 0;
    const event = Math.max(from, await newestEventIdBefore(db, at - settledMs));
    const readFrom = hasAllChanges(position) ? from : 0;
    await this.#addMissing(db, readFrom);
    const since = isSameLog ? position.at - fileClockMs : 0;
    const lost = await findLostRecords(
      db,
      this.#linesSince(since, (error) => damage.push(error)),
    );
    for (const error of damage) onDamage?.(error);
    await this.#rewrite(damage);
    const entriesSince = await this.#entriesSince(db, position, damage.length > 0 ? 0 : readFrom);
    if (!hasLost(lost)) {
      const mark = await findEventMark(db, event);
      await writePosition(folder, keys, { event, mark, at, changeKinds: changeKinds.length, ...entriesSince });
    }
    // The entries of a write that failed meanwhile may still be missing.
    if (failures === this.#state.failures) this.#state.behindSinceMs = undefined;
    return lost;
  }

  /**
   * Reads every file and changes nothing.
   * @returns the error of each untrustworthy file
   * @throws JournalError for a `position.json` that prevents `serve` from starting, Error of the file system
   */
  async findDamage(): Promise<readonly JournalError[]> {
    const { folder, keys } = this.#options;
    const damage: JournalError[] = [];
    await readPosition(folder, keys);
    const lines = readJournal(folder, keys, {}, (error) => damage.push(error));
    while (!(await lines.next()).done);
    return damage;
  }

  /**
   * Adds the entries of a database that is about to be replaced. It may be an old copy, so the journal is complete only
   * up to its newest event. A change of a key may have a time in the future, at which deletions are still missing.
   */
  async completeFrom(reader: Reader): Promise<void> {
    const { folder, keys, clock } = this.#options;
    const { position, isSameLog } = await this.#positionIn(reader);
    const readFrom = isSameLog && hasAllChanges(position) ? position.event : 0;
    await this.#addMissing(reader, readFrom);
    await writePosition(folder, keys, {
      ...position,
      ...(await this.#entriesSince(reader, position, readFrom)),
      changeKinds: changeKinds.length,
      at: Math.max(position.at, Math.min(await newestEventAt(reader), clock.now())),
    });
  }

  /**
   * Catches up now, then every 10 minutes, and 5 seconds after a failure.
   * @throws what the first {@link catchUp} throws
   */
  async start(listener: JournalListener): Promise<void> {
    report(await this.catchUp(listener.onDamage), listener);
    this.#listener = listener;
    this.#schedule(catchUpEveryMs);
  }

  /** Schedules no further catching up. */
  stop(): void {
    this.#listener = undefined;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#listener) this.#timer = setTimeout(() => void runAsSystem(() => this.#catchUpAgain()), ms).unref();
  }

  async #catchUpAgain(): Promise<void> {
    try {
      const lost = await this.catchUp(this.#listener?.onDamage);
      if (this.#listener) report(lost, this.#listener);
      this.#schedule(this.#state.behindSinceMs === undefined ? catchUpEveryMs : retryMs);
    } catch (error) {
      this.#recordFailure();
      this.#listener?.onFailure(error);
      this.#schedule(retryMs);
    }
  }

  #recordFailure(): void {
    this.#state.failures++;
    this.#state.behindSinceMs ??= this.#state.writingSinceMs ?? monotonicMs();
  }

  /** Calls that arrive during a write share the next one. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      this.#state.writingSinceMs = monotonicMs();
      try {
        await this.#append(batch.flatMap((write) => write.revocations));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#recordFailure();
        this.#file = undefined;
        // The audit log has the entries, so the next catching up adds them.
        this.#listener?.onFailure(error);
        this.#schedule(retryMs);
        for (const { reject } of batch) reject(unavailable(error));
      }
    }
    this.#isWriting = false;
    this.#state.writingSinceMs = undefined;
  }

  async #append(revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return;
    if (!this.#file || this.#file.isFull) this.#file = new JournalFile(this.folder, this.#options.keys);
    await this.#file.append(revocations);
  }

  /**
   * The retention removes only older events.
   * @returns the id of the last event whose entries the files certainly contain; 0 without one
   */
  async completedEvent(): Promise<number> {
    const { position, isSameLog } = await this.#positionIn(this.#options.db);
    return isSameLog && hasAllChanges(position) ? position.event : 0;
  }

  /**
   * Compares the mark too: a database that was put back to an older state may have used the event id again. An event that
   * the retention has removed has no mark.
   */
  async #positionIn(reader: Reader): Promise<{ position: Position; isSameLog: boolean }> {
    const { folder, keys } = this.#options;
    const position = (await readPosition(folder, keys)) ?? { event: 0, mark: '', at: 0, changeKinds: 0 };
    const mark = await findEventMark(reader, position.event);
    const isRemoved = mark === '' && (await listCuts(reader)).some(({ eventId }) => eventId >= position.event);
    return { position, isSameLog: mark === position.mark || isRemoved };
  }

  /** @param readFrom the entries of events after this one were added, if the audit log still had the events */
  async #entriesSince(reader: Reader, { since }: Position, readFrom: number): Promise<Pick<Position, 'since'>> {
    const passed = (await listCuts(reader)).filter(({ eventId }) => eventId > readFrom);
    const latest = Math.max(since ?? 0, cutTimeOf(passed));
    return latest > 0 ? { since: latest } : {};
  }

  async #rewrite(damage: readonly JournalError[]): Promise<void> {
    const paths = damage.map(({ path }) => path).filter((path) => !this.#damaged.has(path));
    if (paths.length === 0) return;
    for (const path of paths) this.#damaged.add(path);
    await this.#addMissing(this.#options.db, 0);
  }

  async #addMissing(reader: Reader, from: number): Promise<void> {
    for await (const revocations of revocationsAfter(reader, from)) {
      const missing = await this.#missingOf(revocations);
      if (missing.length > 0) await this.record(missing);
    }
  }

  /** Holds only the batch in memory, for a journal of any size. @returns the entries of the batch that no file has */
  async #missingOf(revocations: readonly Revocation[]): Promise<readonly Revocation[]> {
    const missing = new Map(revocations.map((revocation) => [identityOf(revocation), revocation]));
    const since = revocations.reduce((oldest, { at }) => Math.min(oldest, at), Infinity) - fileClockMs;
    const files = { since, except: this.#damaged };
    for await (const revocation of readJournal(this.folder, this.#options.keys, files, ignored)) {
      missing.delete(identityOf(revocation));
      if (missing.size === 0) break;
    }
    return [...missing.values()];
  }

  async *#linesSince(since: number, onDamage: (error: JournalError) => void): AsyncGenerator<Revocation> {
    for await (const revocation of readJournal(this.folder, this.#options.keys, { since }, onDamage))
      if (revocation.at >= since) yield revocation;
  }
}

const report = (lost: LostRecords, { onLost }: JournalListener): void => {
  if (hasLost(lost)) onLost(lost);
};

/** The entries of a damaged file count as missing: an entry that is written twice has no further effect. */
const ignored = (): void => undefined;

const unavailable = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail: 'The change is committed, but the deletion journal can’t be written at the moment.',
    retryAfterSeconds: 1,
    cause,
  });
