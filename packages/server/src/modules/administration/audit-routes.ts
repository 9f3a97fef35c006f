/** Routes of the audit log for administrators. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { Streams } from '../../http/stream.ts';
import type { AuditLog } from './audit-log.ts';

export const auditRoutes = (auditLog: AuditLog, streams: Streams): readonly Route[] => [
  route(contract.adminListAudit, async ({ query }) => ({ status: 200, body: await auditLog.page(query) })),
  route(contract.adminExportAudit, async ({ principal, query: { format = 'csv', ...search } }) => {
    const { contentType, otherContentTypes } = contract.adminExportAudit.success;
    return {
      status: 200,
      headers: ['Content-Disposition', `attachment; filename="audit.${format}"`],
      contentType: format === 'csv' ? contentType : otherContentTypes[0],
      stream: await auditLog.export(principal, format, search, streams),
    };
  }),
];
