/** Administration: the audit log, filtered, and its export. */
import Type from 'typebox';
import { administrator } from './admin-parts.ts';
import { AuditPage } from './admin-schemas.ts';
import { limits } from './limits.ts';
import { pageFields, totalField } from './paging.ts';
import { route } from './route.ts';
import { AccountFilter, AccountOr, IntegerText, QueryTime, strict } from './schemas.ts';

/** Query parameters of the list and of the export. */
export const auditFilterFields = {
  account: AccountFilter('Only events of this account'),
  action: Type.Optional(Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$', maxLength: 64, examples: ['account.disabled'] })),
  actor: AccountOr(
    '[a-z]+(?::[0-9A-Za-z_]+)?',
    'Exactly, such as `operator` or `account:acc_…`, or the email address of an existing account',
  ),
  target: AccountOr(
    String.raw`[\x21-\x7E]+`,
    'Exactly, such as the id of a key or account, or the email address of an existing account',
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
  description: `Newest first. The server reads at most ${limits.adminRowsPerPageMax} events for a page, so continue until \`nextCursor\` is null. With \`after\`: the events since then, oldest first, without \`cursor\`, \`from\`, \`to\` and \`total\`.`,
  query: Type.Object({ ...auditFilterFields, after, ...pageFields, ...totalField }, strict),
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
