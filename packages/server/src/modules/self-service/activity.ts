/** The activity of an account: its audit events, without ids of other accounts and with selected details only. */
import { limits, type ActivityActor, type ActivityEvent, type ActivityPage } from '@keyreeve/contract';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { fromCursor, sizeOf, toCursor, type PageRequest } from '../../foundation/cursor.ts';
import type { AuditAction } from '../audit/audit.ts';
import { listActivity, type ActivityRow } from './activity-store.ts';

/** The time from which events are shown, in milliseconds. */
const activitySince = (now: number): number => now - limits.activityDays * dayMs;

export class Activity {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Newest first, in the order of ids: events with the same time are neither repeated nor left out.
   * @throws DomainError `invalid_request` for a cursor that is not from this list
   */
  async page({ accountId }: AccountPrincipal, { limit, cursor }: PageRequest): Promise<ActivityPage> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(fromCursor(cursor, isEventId));
    const size = sizeOf(limit);
    const since = activitySince(this.#core.clock.now());
    // One more than the page, to learn whether there is a next page.
    const found = await listActivity(this.#core.db, accountId, before, size + 1);
    const recent = found.filter(({ at }) => at >= since && isTime(at));
    const [last, next] = [found[size - 1], found[size]];
    // Events are recorded in the order of their ids: the events after an old one are old.
    const hasMore = last !== undefined && next !== undefined && !(next.at < since);
    return {
      activity: recent.filter(({ id }) => last === undefined || id >= last.id).map((row) => toActivity(row, accountId)),
      nextCursor: hasMore ? toCursor(String(last.id)) : null,
    };
  }
}

const isEventId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

/** The end of the year 9999: RFC 3339 has no later times. */
const instantMax = 253_402_300_799_999;
/** A row that was damaged may have another value. Administrators see the row in the audit log. */
const isTime = (at: unknown): boolean => Number.isInteger(at) && Math.abs(at as number) <= instantMax;

const toActivity = (row: ActivityRow, accountId: string): ActivityEvent => ({
  at: toInstant(row.at),
  action: row.action,
  actor: actorOf(row.actor, accountId),
  target: row.target,
  details: detailsOf(row),
  clientIp: row.clientIp,
  userAgent: row.userAgent,
});

const actors: Readonly<Record<string, ActivityActor>> = {
  mailbox: 'mail_link',
  possessor: 'finder',
  github: 'github',
  operator: 'operator',
  system: 'system',
};

/** A person’s account is changed by no other accounts than administrators; a service account also by its managers. */
function actorOf(actor: string, accountId: string): ActivityActor {
  if (actor === `account:${accountId}`) return 'you';
  if (actor.startsWith('account:')) return 'administrator';
  if (actor.startsWith('key:')) return 'management_key';
  if (actor.startsWith('program:')) return 'program';
  return (Object.hasOwn(actors, actor) ? actors[actor] : undefined) ?? 'unknown';
}

const ofKey = ['nickname'];
const quota = ['limit', 'per', 'period'];
/** By action: the details that the owner of the account may read. */
const shownDetails: Readonly<Partial<Record<AuditAction, readonly string[]>>> = {
  'account.created': ['role'],
  'account.role_changed': ['role'],
  'account.language_changed': ['language'],
  'account.entitlements_set': ['entitlements', 'removed'],
  'account.quota_reached': quota,
  'session.created': ['kind', 'secondFactor', 'failuresBefore'],
  'api_key.created': [...ofKey, 'scopes', 'environment', 'given'],
  'api_key.deleted': ofKey,
  'api_key.updated': [...ofKey, 'changed', 'narrowed', 'scopesBefore', 'scopes'],
  'api_key.disabled': [...ofKey, 'reason'],
  'api_key.enabled': ofKey,
  'api_key.rotated': [...ofKey, 'overlapSeconds', 'ended'],
  'api_key.previous_ended': ofKey,
  'api_key.leaked': [...ofKey, 'secret', 'by', 'host', 'repository'],
  'api_key.expiring': [...ofKey, 'expiresAt'],
  'api_key.quota_reached': [...ofKey, ...quota],
};

function detailsOf({ action, details }: ActivityRow): ActivityEvent['details'] {
  const names = Object.hasOwn(shownDetails, action) ? shownDetails[action as AuditAction] : undefined;
  const recorded = names === undefined || details === null ? undefined : parsed(details);
  const shown: ActivityEvent['details'] = {};
  for (const name of names ?? []) {
    const value = recorded?.[name];
    if (isShown(value)) shown[name] = value;
  }
  return shown;
}

function parsed(details: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(details);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const isShown = (value: unknown): value is ActivityEvent['details'][string] =>
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every((item) => typeof item === 'string'));
