/** Administration: the audit log, filtered, and its export. */
import Type from 'typebox';
import { administrator } from './admin-parts.ts';
import { AuditPage } from './admin-schemas.ts';
import { limits } from './limits.ts';
import { pageFields } from './paging.ts';
import { route } from './route.ts';
import { IntegerText, QueryTime, strict } from './schemas.ts';

/** Query parameters of the list and of the export. */
export const auditFilterFields = {
  account: Type.Optional(
    Type.String({ pattern: '^acc_[0-9A-Za-z]{1,60}$', description: 'Only events of this account' }),
  ),
  action: Type.Optional(Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', maxLength: 64, examples: ['account.disabled'] })),
  actor: Type.Optional(
    Type.String({
      pattern: '^[a-z]+(?::[0-9A-Za-z_]+)?$',
      maxLength: 80,
      description: 'Exactly, such as `operator` or `account:acc_…`',
    }),
  ),
  target: Type.Optional(
    Type.String({ pattern: '^[\\x21-\\x7E]+$', maxLength: 256, description: 'Exactly, such as the id of a key' }),
  ),
  from: QueryTime('RFC 3339. Only events at this time or later'),
  to: QueryTime('RFC 3339. Only events before this time'),
};

const after = Type.Optional(
  IntegerText(
    '^(?:0|[1-9][0-9]{0,14})$',
    { minimum: 0, maximum: 999_999_999_999_999 },
    'Follows the log: the id of the newest event that is known, then `nextAfter`',
  ),
);

export const adminListAudit = route('adminListAudit', 'GET /admin/audit', {
  ...administrator,
  summary: 'Read the audit log',
  description: `Newest first. The server reads at most ${limits.adminRowsPerPageMax} events for a page, so continue until \`nextCursor\` is null. With \`after\`: the events since then, oldest first, without \`cursor\`, \`from\` and \`to\`.`,
  query: Type.Object({ ...auditFilterFields, after, ...pageFields }, strict),
  success: { status: 200, description: 'A page of events', schema: AuditPage },
  errors: ['invalid_request'],
});

export const adminExportAudit = route('adminExportAudit', 'GET /admin/audit/export', {
  ...administrator,
  summary: 'Export the audit log',
  description:
    "Newest first. In CSV, all fields are quoted, and `'` precedes characters with which a spreadsheet starts a formula; JSON Lines are exact. If the export fails in the middle, the server resets the connection.",
  query: Type.Object(
    { format: Type.Optional(Type.Enum(['csv', 'jsonl'], { description: 'Default: `csv`' })), ...auditFilterFields },
    strict,
  ),
  success: {
    status: 200,
    description: 'The events',
    contentType: 'text/csv; charset=utf-8',
    otherContentTypes: ['application/jsonl; charset=utf-8'],
    headers: { 'Content-Disposition': 'The name of the file' },
  },
  errors: ['invalid_request'],
});
