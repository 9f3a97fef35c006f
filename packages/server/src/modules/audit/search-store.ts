/** Searches the audit log. No index covers the filters, so each read searches a bounded number of events, by id. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { AuditRow } from './chain.ts';

export interface FoundEvent extends AuditRow {
  readonly id: number;
}

export interface EventFilter {
  readonly accountId?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  /** In milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** In milliseconds, exclusive. */
  readonly to?: number | undefined;
}

const columns = 'id, at, actor, action, account_id as "accountId", target, details';
// The subselect is the bounded part. Its events are in the order of the index.
const matching = `($3 = '' or actor = $3) and ($4 = '' or action = $4) and ($5 = '' or target = $5) and at >= $6 and at < $7`;
const partOf = (shown: string, part: string): string =>
  `(select ${shown} from audit_events where ${part} order by id desc limit $2) part`;
const search = (part: string): string =>
  `select * from ${partOf(columns, part)} where ${matching} order by id desc limit $8`;
const count = (part: string): string =>
  `select count(*) as rows, count(case when ${matching} then 1 end) as matching, min(id) as last, min(at) as "firstAt"
   from ${partOf('id, at, actor, action, target', part)}`;
const lastOf = (part: string): string =>
  `select id, at from audit_events where ${part} order by id desc limit 1 offset $2`;
const searchAll = sql<FoundEvent>('search_audit_events', search('id < $1'));
const searchAccount = sql<FoundEvent>('search_audit_events_of_account', search('account_id = $9 and id < $1'));
const countAll = sql<CountedEvents>('count_audit_events', count('id < $1'));
const countOfAccount = sql<CountedEvents>('count_audit_events_of_account', count('account_id = $8 and id < $1'));
const selectAfter = sql<FoundEvent>(
  'list_audit_events_after',
  `select ${columns} from audit_events where id > $1 order by id limit $2`,
);
const selectLast = sql<{ id: number; at: number }>('last_searched_audit_event', lastOf('id < $1'));
const selectLastOfAccount = sql<{ id: number; at: number }>(
  'last_searched_audit_event_of_account',
  lastOf('account_id = $3 and id < $1'),
);
const selectAtOrBefore = sql<{ id: number; at: number }>(
  'audit_event_at_or_before',
  'select id, at from audit_events where id <= $1 order by id desc limit 1',
);

/** Of a searched part. */
export interface CountedEvents {
  readonly rows: number;
  readonly matching: number;
  /** The lowest id; null without events. */
  readonly last: number | null;
  /** The earliest time. */
  readonly firstAt: number | null;
}

export interface SearchPart {
  /** Only events with a lower id. */
  readonly before: number;
  /** How many events are searched. */
  readonly searchedMax: number;
  /** How many events are returned. */
  readonly limit: number;
}

/** Newest first. */
export const searchEvents = (
  reader: Reader,
  filter: EventFilter,
  { limit, ...part }: SearchPart,
): Promise<FoundEvent[]> => {
  const { accountId } = filter;
  const values = [...valuesOf(filter, part), limit];
  return accountId === undefined ? reader.all(searchAll, values) : reader.all(searchAccount, [...values, accountId]);
};

/** Counts what {@link searchEvents} would find in the part. */
export const countEvents = (
  reader: Reader,
  filter: EventFilter,
  part: Omit<SearchPart, 'limit'>,
): Promise<CountedEvents | undefined> => {
  const { accountId } = filter;
  const values = valuesOf(filter, part);
  return accountId === undefined ? reader.get(countAll, values) : reader.get(countOfAccount, [...values, accountId]);
};

const valuesOf = (
  { action = '', actor = '', target = '', from, to }: EventFilter,
  { before, searchedMax }: Omit<SearchPart, 'limit'>,
) => [before, searchedMax, actor, action, target, from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER];

/** Oldest first. */
export const listEventsAfterId = (reader: Reader, after: number, limit: number): Promise<FoundEvent[]> =>
  reader.all(selectAfter, [after, limit]);

/** @returns the last event that {@link searchEvents} searches; undefined if it searches all remaining events */
export const findLastSearched = (
  reader: Reader,
  accountId: string | undefined,
  before: number,
  searchedMax: number,
): Promise<{ id: number; at: number } | undefined> =>
  accountId === undefined
    ? reader.get(selectLast, [before, searchedMax - 1])
    : reader.get(selectLastOfAccount, [before, searchedMax - 1, accountId]);

/**
 * Events have ids in the order of their commits, so their times increase, except by the differences of clocks.
 * @param at milliseconds; events of later times may have lower ids only if the clocks differ by more than the caller adds
 * @returns an id above those of all existing events until this time, and not above those of events that are added later
 */
export async function findIdAfter(reader: Reader, at: number): Promise<number> {
  const newest = await reader.get(selectAtOrBefore, [Number.MAX_SAFE_INTEGER]);
  if (!newest || newest.at <= at) return (newest?.id ?? 0) + 1;
  // All events with the id `high` or a higher one are later. Bisection: at most 53 reads by the primary key.
  let [low, high] = [0, newest.id];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const event = await reader.get(selectAtOrBefore, [middle]);
    if (event && event.at > at) high = event.id;
    else low = middle;
  }
  return high;
}
