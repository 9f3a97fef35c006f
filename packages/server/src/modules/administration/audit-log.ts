/** The audit log as administrators read it: filtered, in pages or as an export. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits, type AuditPage, type ListTotal } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, wantsTotal, type PageRequest } from '../../foundation/cursor.ts';
import { readsOf } from '../../foundation/database/read-parts.ts';
import { countInParts } from '../../foundation/database/totals.ts';
import { invalidAt } from '../../foundation/errors.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toMs } from '../../foundation/query-time.ts';
import type { ContentStream, Streams } from '../../http/stream.ts';
import { accountIdOf } from './account-filters.ts';
import {
  countEvents,
  findIdAfter,
  findLastSearched,
  listEventsAfterId,
  searchEvents,
  type EventFilter,
  type FoundEvent,
} from '../audit/search-store.ts';
import { parsedDetails } from '../audit/export.ts';
import { newestEventId } from '../audit/store.ts';
import { assertSessionContinues } from '../sessions/store.ts';

export interface AuditSearch {
  readonly account?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
  /** RFC 3339. */
  readonly from?: string;
  readonly to?: string;
}

/** The clocks of instances differ by less. */
const clockDifferenceMax = dayMs;
const exportedPerPage = 500;
/** Fewer than for a page, because an export reads many of them. */
const searchedPerExportedPage = 2_000;

export interface Following {
  /** Decimal digits: the id of an event. */
  readonly after?: string;
}

/** A transaction does not last longer. */
const settledMs = 10_000;
/** Events that one request of a follower reads. */
const followedMax = 1_000;

interface Found {
  readonly events: readonly FoundEvent[];
  /** The search continues with events of lower ids; undefined at the end. */
  readonly before: number | undefined;
}

export class AuditLog {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Newest first. @throws DomainError `invalid_request` for an invalid cursor or time, or a total of another page than the first */
  async page(search: AuditSearch & Following & PageRequest): Promise<AuditPage> {
    const { after, cursor } = search;
    const hasTotal = wantsTotal(search);
    const filter = await this.#toFilter(search);
    const size = sizeOf(search.limit);
    if (after !== undefined) {
      if (hasTotal) throw invalidAt('/after', 'Do not send `total` with it.');
      return this.#follow(filter, Number(after), size, cursor);
    }
    const before = cursor === undefined ? await this.#start(filter) : Number(fromCursor(cursor, isEventId));
    const searchedMax = isByAccountOnly(filter) ? size : limits.adminRowsPerPageMax;
    const found = await this.#search(filter, before, searchedMax, size);
    return {
      events: found.events.map(toEvent),
      nextCursor: found.before === undefined ? null : toCursor(String(found.before)),
      ...(hasTotal && { total: await this.#count(filter, before) }),
    };
  }

  /** How many events all pages have, counted up to a bound. */
  #count(filter: EventFilter, start: number): Promise<ListTotal> {
    return countInParts(this.#core.db, start, async (before, searchedMax) => {
      const part = await countEvents(this.#core.db, filter, { before, searchedMax });
      const isOver = part?.rows !== searchedMax || isBefore(part.firstAt, filter);
      return { matching: part?.matching ?? 0, last: isOver ? undefined : (part.last ?? undefined) };
    });
  }

  /**
   * The events since an id, oldest first. On PostgreSQL, a transaction can commit after one with a higher id. So a recent
   * event that follows a missing id waits until the missing one is there, or cannot come any more.
   * @throws DomainError `invalid_request` with a cursor or a time
   */
  async #follow(filter: EventFilter, after: number, size: number, cursor: string | undefined): Promise<AuditPage> {
    if (cursor !== undefined) throw invalidAt('/after', 'Do not send `cursor` with it.');
    if (filter.from !== undefined || filter.to !== undefined)
      throw invalidAt('/after', 'Do not send `from` or `to` with it.');
    const settledBefore = this.#core.clock.now() - settledMs;
    const events: FoundEvent[] = [];
    let nextAfter = after;
    for (const event of await listEventsAfterId(this.#core.db, after, followedMax)) {
      if (events.length === size || (event.id > nextAfter + 1 && event.at > settledBefore)) break;
      nextAfter = event.id;
      if (isMatch(event, filter)) events.push(event);
    }
    return { events: events.map(toEvent), nextCursor: null, nextAfter };
  }

  /** @throws DomainError `invalid_request` for an invalid time, `too_many_in_progress` */
  async export(
    principal: AccountPrincipal,
    format: 'csv' | 'jsonl',
    search: AuditSearch,
    streams: Streams,
  ): Promise<ContentStream> {
    const check = (): Promise<void> => assertSessionContinues(this.#core.db, principal, this.#core.clock.now());
    const parts = this.#parts(format, await this.#toFilter(search));
    return streams.open({ name: 'audit', owner: principal.accountId, check, parts });
  }

  async *#parts(format: 'csv' | 'jsonl', filter: EventFilter): AsyncGenerator<string, void, undefined> {
    const line = format === 'csv' ? toCsv : toJsonLine;
    let head = format === 'csv' ? csvHead : '';
    let before: number | undefined = await this.#start(filter);
    while (before !== undefined) {
      const found: Found = await this.#search(filter, before, searchedPerExportedPage, exportedPerPage);
      yield head + found.events.map((event) => line(toEvent(event))).join('');
      head = '';
      before = found.before;
    }
  }

  /** @throws DomainError `invalid_request` */
  async #toFilter({ account, action, actor, target, from, to }: AuditSearch): Promise<EventFilter> {
    const times = { from: toMs('from', from), to: toMs('to', to) };
    if (times.from !== undefined && times.to !== undefined && times.from >= times.to)
      throw invalidAt('/from', 'Expected a time before `to`.');
    const idOf = async (text: string | undefined) => text && accountIdOf(this.#core.db, text);
    const actorId = await idOf(actor);
    return {
      accountId: await idOf(account),
      action,
      actor: actorId === actor ? actor : `account:${actorId}`,
      target: await idOf(target),
      ...times,
    };
  }

  /** @returns an id above those of the events until `to`, and not above those of later events: each read of a page omits them */
  async #start({ to }: EventFilter): Promise<number> {
    return to === undefined
      ? (await newestEventId(this.#core.db)) + 1
      : findIdAfter(this.#core.db, to + clockDifferenceMax);
  }

  async #search(filter: EventFilter, before: number, searchedMax: number, limit: number): Promise<Found> {
    const events: FoundEvent[] = [];
    let position = before;
    for (const count of readsOf(this.#core.db, limit, searchedMax)) {
      // SQLite reads synchronously: other requests run between two reads.
      if (position !== before) await nextTurn();
      const part = { before: position, searchedMax: count, limit: limit - events.length };
      events.push(...(await searchEvents(this.#core.db, filter, part)));
      if (events.length === limit) return { events, before: events.at(-1)?.id };
      const last = await findLastSearched(this.#core.db, filter.accountId, position, count);
      if (last === undefined || isBefore(last.at, filter)) return { events, before: undefined };
      position = last.id;
    }
    return { events, before: position };
  }
}

/** Whether earlier events are outside of the filter, too. */
const isBefore = (at: number | null, { from }: EventFilter): boolean =>
  from !== undefined && at !== null && at < from - clockDifferenceMax;

const isMatch = (event: FoundEvent, { accountId, action, actor, target }: EventFilter): boolean =>
  (accountId === undefined || event.accountId === accountId) &&
  (action === undefined || event.action === action) &&
  (actor === undefined || event.actor === actor) &&
  (target === undefined || event.target === target);

const isByAccountOnly = ({ action, actor, target, from, to }: EventFilter): boolean =>
  [action, actor, target, from, to].every((value) => value === undefined);

const isEventId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

type Event = AuditPage['events'][number];

/** The years 0 and 9999, beyond which RFC 3339 has no times. */
const instantMin = -62_167_219_200_000;
const instantMax = 253_402_300_799_999;

/** A damaged row must not make the page fail: its time is limited, and its details can be any text. */
const toEvent = ({ id, at, actor, action, accountId, target, details }: FoundEvent): Event => ({
  id,
  at: toInstant(Number.isFinite(at) ? Math.max(instantMin, Math.min(instantMax, at)) : 0),
  actor,
  action,
  accountId,
  target,
  details: details === null ? null : parsedDetails(details),
});

const toJsonLine = (event: Event): string => `${JSON.stringify(event)}\n`;

const csvColumns = ['id', 'at', 'actor', 'action', 'accountId', 'target', 'details'] as const;
const csvHead = `${csvColumns.map((column) => `"${column}"`).join(',')}\r\n`;

const toCsv = (event: Event): string => `${csvColumns.map((column) => csvField(event[column])).join(',')}\r\n`;

/**
 * A quoted field without formulas (ASVS 1.2.10). A spreadsheet in a region where `;` separates fields ends a field at each
 * `;`, so the text after it could become a formula as well.
 */
function csvField(value: unknown): string {
  const text = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  // The lookahead is first: the lookbehind is slow, and few characters start a formula.
  const safe = typeof value === 'number' ? text : text.replaceAll(/(?=[=+\-@\t\r])(?<=(?:^|[;\t\r\n])["' ]*)/g, "'");
  return `"${safe.replaceAll('"', '""')}"`;
}
