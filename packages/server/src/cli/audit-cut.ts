/** `keyreeve audit cut`: removes the oldest audit events now. */
import type { Config } from '../app/configuration/config.ts';
import { dayMs, systemClock, toInstant } from '../foundation/clock.ts';
import type { CutResult } from '../modules/audit-retention/audit-cutter.ts';
import { blockDetails } from '../modules/audit-retention/block-details.ts';
import { auditDaysMin } from '../modules/audit/cuts.ts';
import { confirm } from './confirm.ts';
import { UsageError } from './failure.ts';
import { plural, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

export interface CutOptions extends OutputOptions {
  readonly until?: number;
  readonly acceptFindings?: boolean;
  readonly yes?: boolean;
}

/** @returns the exit status */
export function cutEvents({ until, acceptFindings: acceptsFindings = false, ...options }: CutOptions): Promise<number> {
  return withInstallation({}, async ({ config, journal, auditRetention }) => {
    const now = systemClock.now();
    const eventsBefore = until ?? now - daysOf(config) * dayMs;
    const days = removableDays(config, eventsBefore, now);
    await confirmCut(now, eventsBefore, options);
    // Otherwise events that are missing in the journal stay.
    await journal?.catchUp();
    const result = await auditRetention.cutNow(operator, { eventsBefore, days, acceptsFindings }, until === undefined);
    const report = { eventsBefore: toInstant(eventsBefore), removed: result.removed, blocked: result.blocked ?? null };
    print(options, report, describeCut(result));
    return result.blocked ? 1 : 0;
  });
}

/** @throws UsageError unless an operator confirms the clock and the time */
export const confirmCut = (now: number, eventsBefore: number, options: { readonly yes?: boolean }): Promise<void> =>
  confirm(
    `The clock of this machine shows ${toInstant(now)}. Audit events from before ${toInstant(eventsBefore)} will be removed.`,
    options,
  );

/** @returns the age in days that removed events must have @throws UsageError if younger events would be removed */
export function removableDays({ auditDays = auditDaysMin }: Config, eventsBefore: number, now: number): number {
  if (eventsBefore > now - auditDays * dayMs)
    throw new UsageError(
      `audit events are kept for ${auditDays} days at least, so --until can be ${toInstant(now - auditDays * dayMs)} at the latest`,
    );
  return auditDays;
}

export const describeCut = ({ removed, blocked }: CutResult): string =>
  [`Removed ${plural(removed, 'audit event')}.`, ...(blocked ? [`Not all: ${blockDetails[blocked]}.`] : [])].join('\n');

function daysOf({ auditDays }: Config): number {
  if (auditDays === undefined) throw new UsageError('name a time with --until, or set KEYREEVE_AUDIT_DAYS');
  return auditDays;
}
