/** Decides which events at the start of a chain a cut removes. */
import { dayMs } from '../../foundation/clock.ts';
import type { AuditKey } from '../../foundation/database/db.ts';
import { macOf } from '../audit/chain.ts';
import type { PlacedEvent } from '../audit/store.ts';
import type { NeededEvents } from './needed-events.ts';
import type { Block } from './store.ts';

export interface CutBounds {
  /** Events at this time and later ones stay; in milliseconds. */
  readonly eventsBefore: number;
  /**
   * An event with a time after this one was written while a clock was ahead. It does not keep older events that follow it.
   * In milliseconds; undefined: it keeps them.
   */
  readonly futureFrom?: number | undefined;
  readonly needed: NeededEvents;
  /** The position of the last event that may be removed. */
  readonly positionMax: number;
  /**
   * Up to this position, an earlier call found that the events can be removed: those with a time in the future too, because
   * older events follow them. Default: 0.
   */
  readonly decidedTo?: number;
  /** The key of the event at a position. Undefined: an operator removes events although their MACs are wrong. */
  readonly keyAt: ((position: number) => AuditKey) | undefined;
}

export interface Removable {
  /** How many events can be removed, from the first one on. */
  readonly count: number;
  /** Whether an event was found that stays. Otherwise the following events of the chain decide about the rest. */
  readonly isEnd: boolean;
  /** Why an event that is old enough stays; undefined if there is none. */
  readonly blocked?: Block | undefined;
}

/** A clock that is ahead by less is an ordinary difference between clocks. */
export const futureMs = dayMs;

/**
 * Verifies each event, because an attacker could otherwise let the service remove evidence, by a time that is long past.
 * @param events in order, the first one after `before` @param before the place and the MAC that the first event continues
 */
export function findRemovable(
  events: readonly PlacedEvent[],
  before: Pick<PlacedEvent, 'position' | 'mac'> | undefined,
  bounds: CutBounds,
): Removable {
  const { eventsBefore, futureFrom = Infinity, needed, positionMax, keyAt, decidedTo = 0 } = bounds;
  let previous = before;
  let count = 0;
  for (const [index, event] of events.entries()) {
    const isFuture = event.at >= futureFrom;
    if (event.position > positionMax || (event.at >= eventsBefore && !isFuture)) return { count, isEnd: true };
    const isNext = event.position === (previous?.position ?? 0) + 1;
    if (!isNext || (keyAt && !isIntact(keyAt(event.position), event, previous)))
      return { count, isEnd: true, blocked: 'integrity' };
    const blocked = needed.neededBy(event);
    if (blocked) return { count, isEnd: true, blocked };
    if (!isFuture || event.position <= decidedTo) count = index + 1;
    previous = event;
  }
  return { count, isEnd: false };
}

const isIntact = (key: AuditKey, event: PlacedEvent, previous: Pick<PlacedEvent, 'mac'> | undefined): boolean =>
  event.mac !== null && Buffer.compare(event.mac, macOf(key, event, previous?.mac)) === 0;
