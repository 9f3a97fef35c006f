/** Which events of the audit log are still needed: by the deletion journal, and by webhooks. */
import type { Reader } from '../../foundation/database/db.ts';
import { listNeededPositions } from '../webhooks/needed-events-store.ts';
import type { Block } from './store.ts';

/** What a deletion journal tells about the events that its files contain. */
export interface JournalProgress {
  /** @returns the id of the last event up to which the files contain all entries; 0 if that is unknown */
  completedEvent(): Promise<number>;
}

export class NeededEvents {
  /** Events with this id and higher ids are needed. */
  readonly #journalFrom: number;
  /** By chain: the first position that is needed. */
  readonly #webhooksFrom: ReadonlyMap<number, number>;

  private constructor(journalFrom: number, webhooksFrom: ReadonlyMap<number, number>) {
    this.#journalFrom = journalFrom;
    this.#webhooksFrom = webhooksFrom;
  }

  /** The result stays valid: events of a later time are never old enough. @param journal undefined without one */
  static async read(reader: Reader, journal: JournalProgress | undefined): Promise<NeededEvents> {
    const journalFrom = journal ? await journal.completedEvent() : Infinity;
    return new NeededEvents(journalFrom, await listNeededPositions(reader));
  }

  /** @returns what needs the event; undefined if nothing does */
  neededBy({ id, chain, position }: { id: number; chain: number; position: number }): Block | undefined {
    if (id >= this.#journalFrom) return 'deletion_journal';
    return position >= (this.#webhooksFrom.get(chain) ?? Infinity) ? 'webhooks' : undefined;
  }
}
