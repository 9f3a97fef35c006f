/** The export of the audit log. A remote service exports fewer columns, newest first. */
import { adminExportAudit } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { exportLog, type ExportFormat } from '../../modules/audit/export.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import type { CommandContext } from '../session.ts';

export interface ExportedSpan {
  /** Milliseconds. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly accountId: string | undefined;
}

export interface AuditOperations {
  /** Calls `write` with the lines. */
  export(
    format: ExportFormat,
    span: ExportedSpan,
    write: (lines: AsyncIterable<string>) => Promise<void>,
  ): Promise<void>;
}

export const localAudit = ({ installation: { db } }: CommandContext): AuditOperations => ({
  export: (format, { since = Number.MIN_SAFE_INTEGER, until = Number.MAX_SAFE_INTEGER, accountId }, write) =>
    db.snapshot((reader) => write(exportLog(reader, format, { since, until, accountId }))),
});

export const remoteAudit = (service: RemoteService): AuditOperations => ({
  export(format, { since, until, accountId }, write) {
    const { contentType, otherContentTypes } = adminExportAudit.success;
    const query = { format, account: accountId, from: timeOf(since), to: timeOf(until) };
    return write(service.content(adminExportAudit, { query }, format === 'csv' ? contentType : otherContentTypes[0]));
  },
});

const timeOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : toInstant(ms));
