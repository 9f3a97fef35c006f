/**
 * The journal of deletions: files apart from the database, so that restoring an older backup revives nothing.
 *
 * What is revoked is written here after its commit and before its answer. The audit trail says the same, so whatever a
 * process that died, or a full disk, has kept from the journal is brought in from there: {@link DeletionJournal.catchUp}.
 */
import { findEventMark, listRevocationEventsAt, newestEventAt, newestEventIdBefore } from '../audit/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Reader } from '../../foundation/database/db.ts';
import { runAsSystem } from '../../foundation/database/share.ts';
import { DomainError } from '../../foundation/errors.ts';
import {
  JournalFile,
  readJournal,
  readPosition,
  writePosition,
  type JournalEnding,
  type JournalError,
  type JournalKeys,
  type Position,
} from './files.ts';
import { identityOf, isChange, revocationsOf, type Revocation, type Revocations } from './revocation.ts';
import { findLostRecords, hasLost, revocationsAfter, type LostRecords } from './lost-records.ts';

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

/** Receives what happens between calls. */
export interface JournalListener {
  readonly onFailure: (error: unknown) => void;
  /** A file that is not trustworthy, at each catching up. */
  readonly onDamage: (error: JournalError) => void;
  readonly onLost: (forgotten: LostRecords) => void;
}

interface Waiting {
  readonly revocations: readonly Revocation[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class DeletionJournal implements Revocations {
  readonly folder: string;
  readonly #options: DeletionJournalOptions;
  readonly #files = new Map<JournalEnding, JournalFile>();
  #waiting: Waiting[] = [];
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;
  #watch: JournalListener | undefined;
  /** Paths of files that are not trustworthy. What they held has been written anew from the audit trail. */
  readonly #damaged = new Set<string>();

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
    this.#schedule(retryMs);
  }

  /**
   * Brings in what the audit trail records and the journal lacks, and looks for the opposite. What a damaged file held is
   * written anew from the audit trail, so the file can be moved away and nothing is lost.
   * @returns what the journal knows and the database has forgotten: then the journal isn't said to be complete
   * @throws JournalError for a `position.json` of another installation, Error of the file system, DomainError `unavailable`
   */
  async catchUp(onDamage?: (error: JournalError) => void): Promise<LostRecords> {
    const { folder, db, clock, keys } = this.#options;
    const at = clock.now();
    const damage: JournalError[] = [];
    const { position, isSameTrail } = await this.#positionIn(db);
    const from = isSameTrail ? position.event : 0;
    const event = Math.max(from, await newestEventIdBefore(db, at - settledMs));
    await this.#bringIn(db, position.hasChanges ? from : 0);
    const since = isSameTrail ? position.at - fileClockMs : 0;
    const forgotten = await findLostRecords(
      db,
      this.#linesSince(since, (error) => damage.push(error)),
    );
    for (const error of damage) onDamage?.(error);
    await this.#writeAnew(damage);
    if (!hasLost(forgotten)) {
      await writePosition(folder, keys, { event, mark: await findEventMark(db, event), at, hasChanges: true });
    }
    return forgotten;
  }

  /**
   * Reads every file, and changes nothing.
   * @returns the error of each file that is not trustworthy
   * @throws JournalError for a `position.json` that stops `serve`, Error of the file system
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
   * Brings in what a database knows that is about to be replaced. It may be an old copy: only up to its newest event is
   * the journal complete by it.
   */
  async completeFrom(reader: Reader): Promise<void> {
    const { folder, keys } = this.#options;
    const { position, isSameTrail } = await this.#positionIn(reader);
    await this.#bringIn(reader, isSameTrail && position.hasChanges ? position.event : 0);
    await writePosition(folder, keys, {
      ...position,
      hasChanges: true,
      at: Math.max(position.at, await newestEventAt(reader)),
    });
  }

  /**
   * Catches up now and from time to time, sooner after a failure: for a process that runs for long.
   * @throws what {@link catchUp} throws, the first time
   */
  async start(watch: JournalListener): Promise<void> {
    this.#tell(await this.catchUp(watch.onDamage), watch);
    this.#watch = watch;
    this.#schedule(catchUpEveryMs);
  }

  /** Finishes what is under way. */
  stop(): void {
    this.#watch = undefined;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#watch) this.#timer = setTimeout(() => void runAsSystem(() => this.#catchUpAgain()), ms).unref();
  }

  async #catchUpAgain(): Promise<void> {
    try {
      const forgotten = await this.catchUp(this.#watch?.onDamage);
      if (this.#watch) this.#tell(forgotten, this.#watch);
      this.#schedule(catchUpEveryMs);
    } catch (error) {
      this.#watch?.onFailure(error);
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
        const revocations = together.flatMap((waiting) => waiting.revocations);
        await this.#append(
          '.journal',
          revocations.filter(({ kind }) => !isChange(kind)),
        );
        await this.#append(
          '.changes',
          revocations.filter(({ kind }) => isChange(kind)),
        );
        for (const { resolve } of together) resolve();
      } catch (error) {
        this.#files.clear();
        // The trail has them: they are brought in from there as soon as it goes again.
        this.#watch?.onFailure(error);
        this.#schedule(retryMs);
        for (const { reject } of together) reject(unwritten(error));
      }
    }
    this.#isWriting = false;
  }

  async #append(ending: JournalEnding, revocations: readonly Revocation[]): Promise<void> {
    if (revocations.length === 0) return;
    const current = this.#files.get(ending);
    const file = current && !current.isFull ? current : new JournalFile(this.folder, this.#options.keys, ending);
    this.#files.set(ending, file);
    await file.append(revocations);
  }

  #tell(forgotten: LostRecords, { onLost }: JournalListener): void {
    if (hasLost(forgotten)) onLost(forgotten);
  }

  /** An id alone says little: a trail that went back may have gone on from there, past it. */
  async #positionIn(reader: Reader): Promise<{ position: Position; isSameTrail: boolean }> {
    const { folder, keys } = this.#options;
    const position = (await readPosition(folder, keys)) ?? { event: 0, mark: '', at: 0, hasChanges: true };
    return { position, isSameTrail: (await findEventMark(reader, position.event)) === position.mark };
  }

  async #writeAnew(damage: readonly JournalError[]): Promise<void> {
    const paths = damage.map(({ path }) => path).filter((path) => !this.#damaged.has(path));
    if (paths.length === 0) return;
    for (const path of paths) this.#damaged.add(path);
    await this.#bringIn(this.#options.db, 0);
  }

  async #bringIn(reader: Reader, from: number): Promise<void> {
    for await (const revocations of revocationsAfter(reader, from)) {
      const missing = await this.#missingOf(revocations);
      if (missing.length > 0) await this.record(missing);
    }
  }

  /** Those of a batch that no file names. Only the batch is held in memory, however large the journal is. */
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

/** To write a revocation twice does no harm. */
const ignored = (): void => undefined;

const unwritten = (cause: unknown): DomainError =>
  new DomainError('unavailable', {
    detail: 'It is done and holds, but the journal of deletions can’t be written at the moment.',
    retryAfterSeconds: 1,
    cause,
  });
