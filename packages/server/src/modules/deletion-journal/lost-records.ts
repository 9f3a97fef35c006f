/** The journal beside the audit trail: what the one says that the other doesn't. */
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

/** Events that are read at once. */
const eventsPerRead = 20_000;
const idsPerRead = 1_000;

/** What the audit trail records after an event, in batches of bounded size, none of them empty. */
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

/** What the journal knows and the database doesn't: it is older than it was, as after a failover or a file copy. */
export interface LostRecords {
  /** Keys, accounts and signing keys that were deleted or revoked and work, and changes of accounts that were lost. */
  readonly working: number;
  /** The journal names an event that the trail hasn't reached. */
  readonly isBehind: boolean;
}

export const hasLost = ({ working, isBehind }: LostRecords): boolean => working > 0 || isBehind;

/** A line is written after its commit, so what a line says must be seen by whatever is read after the line. */
export async function findLostRecords(reader: Reader, journal: AsyncIterable<Revocation>): Promise<LostRecords> {
  const waiting: Record<FinalKind, string[]> = { api_key: [], account: [], signing_key: [] };
  let working = 0;
  let newestKnown = 0;
  const ask = async (kind: FinalKind, idsMin: number): Promise<void> => {
    if (waiting[kind].length >= idsMin) working += (await findListed(reader, kind, waiting[kind].splice(0))).length;
  };
  const changes = new Map<ChangeKind, DatedId[]>(changeKinds.map((kind) => [kind, []]));
  const askChanges = async (idsMin: number): Promise<void> => {
    for (const [kind, listed] of changes)
      if (listed.length >= idsMin) working += (await findLostChanges(reader, kind, listed.splice(0))).length;
  };
  for await (const { kind, id, at, event = 0 } of journal) {
    newestKnown = Math.max(newestKnown, event);
    if (isChange(kind)) {
      changes.get(kind)?.push({ id, at });
      await askChanges(idsPerRead);
    }
    if (!isFinal(kind)) continue;
    waiting[kind].push(id);
    await ask(kind, idsPerRead);
  }
  for (const kind of ['api_key', 'account', 'signing_key'] as const) await ask(kind, 1);
  await askChanges(1);
  return { working, isBehind: newestKnown > (await newestEventId(reader)) };
}
