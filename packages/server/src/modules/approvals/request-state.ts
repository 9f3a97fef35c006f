/** The state of a request at a time, and what responses show of it. */
import { limits, type Approval } from '@keyreeve/contract';
import { aheadMsMax, toInstant } from '../../foundation/clock.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import type { RequestRow } from './store.ts';

/** Of a client whose IP address is not known. */
const unknownRange = 'unknown';

export const rangeOf = (clientIp: string): string => coarseRange(clientIp) ?? unknownRange;

/** One that began while a clock was ahead has ended: it would last until long after the correction. */
export const hasEnded = ({ createdAt, expiresAt }: RequestRow, now: number): boolean =>
  expiresAt <= now || createdAt - aheadMsMax > now;

/** What has happened to requests on this process, for its metrics. */
export class RequestCounts {
  begun = 0;
  approved = 0;
  denied = 0;
  /** Keys that were created. */
  issued = 0;
  /** Secrets that were replaced after a lost response. */
  reissued = 0;
  /** Approved rights that did not hold at the poll any more. */
  refused = 0;
}

/** The longest lifetime of a key, in seconds. @param daysMax KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit */
export const lifetimeSecondsOf = (programSeconds: number, daysMax: number): number =>
  daysMax === 0 ? programSeconds : Math.min(programSeconds, daysMax * 86_400);

export function toApproval(row: RequestRow, clientIp: string): Approval {
  const { requested, approved } = row.data;
  const right = approved ?? requested;
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    program: { id: row.programId, name: row.programName },
    clientRange: row.clientRange,
    isOwnRange: row.clientRange === rangeOf(clientIp),
    createdAt: toInstant(row.createdAt),
    expiresAt: toInstant(row.expiresAt),
    scopes: [...right.scopes],
    lifetimeSeconds: right.lifetimeSeconds,
    nickname: approved?.nickname ?? row.programName,
    keyId: row.keyId,
  };
}

export const requestMs = limits.deviceRequestSeconds * 1_000;
