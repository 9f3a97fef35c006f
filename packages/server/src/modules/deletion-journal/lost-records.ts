/** Compares the deletion journal with the audit log and the database: entries and records that one of them lacks. */
import { listRevocationEvents, newestEventId } from '../audit/store.ts';
import type { Reader } from '../../foundation/database/db.ts';
import type { DatedId } from '../../foundation/database/json-lists.ts';
import {
  changeKinds,
  isChange,
  isFinal,
  revocationsOf,
  type ChangeKind,
  type FinalKind,
  type Revocation,
} from './revocation.ts';
import { findListed, findLostChanges } from './store.ts';

/** Event ids in one read of the audit log. */
const eventsPerRead = 20_000;
const idsPerRead = 1_000;

/** Yields the deletions that the audit log records after an event, in non-empty batches of bounded size. */
export async function* revocationsAfter(reader: Reader, event: number): AsyncGenerator<Revocation[]> {
  const newest = await newestEventId(reader);
  let batch: Revocation[] = [];
  for (let after = event; after < newest; after += eventsPerRead) {
    const until = Math.min(after + eventsPerRead, newest);
    batch.push(...(await listRevocationEvents(reader, after, until)).flatMap(revocationsOf));
    if (batch.length < eventsPerRead && until < newest) continue;
    if (batch.length > 0) yield batch;
    batch = [];
  }
}

/** Records that the database has lost. It was put back to an older state, as by a failover or a file copy. */
export interface LostRecords {
  /** The number of deleted or revoked keys, accounts and signing keys that work again, and of lost changes. */
  readonly working: number;
  /** Whether the journal has an event id above the newest in the audit log. */
  readonly isBehind: boolean;
}

export const hasLost = ({ working, isBehind }: LostRecords): boolean => working > 0 || isBehind;

/** A journal line is written after its commit, so a later read of the database must see its change. */
export async function findLostRecords(reader: Reader, journal: AsyncIterable<Revocation>): Promise<LostRecords> {
  const pending: Record<FinalKind, string[]> = { api_key: [], account: [], signing_key: [] };
  let working = 0;
  let newestInJournal = 0;
  const countDeletions = async (kind: FinalKind, idsMin: number): Promise<void> => {
    if (pending[kind].length >= idsMin) working += (await findListed(reader, kind, pending[kind].splice(0))).length;
  };
  const changes = new Map<ChangeKind, DatedId[]>(changeKinds.map((kind) => [kind, []]));
  const countChanges = async (idsMin: number): Promise<void> => {
    for (const [kind, listed] of changes)
      if (listed.length >= idsMin) working += (await findLostChanges(reader, kind, listed.splice(0))).length;
  };
  for await (const { kind, id, at, event = 0 } of journal) {
    newestInJournal = Math.max(newestInJournal, event);
    if (isChange(kind)) {
      changes.get(kind)?.push({ id, at });
      await countChanges(idsPerRead);
    }
    if (!isFinal(kind)) continue;
    pending[kind].push(id);
    await countDeletions(kind, idsPerRead);
  }
  for (const kind of ['api_key', 'account', 'signing_key'] as const) await countDeletions(kind, 1);
  await countChanges(1);
  return { working, isBehind: newestInJournal > (await newestEventId(reader)) };
}
