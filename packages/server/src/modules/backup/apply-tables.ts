/** Tables of `keyreeve apply`. Part of the list in tables.ts. */
import type { Table } from './table.ts';

export const applyTables: readonly Table[] = [
  {
    name: 'applied_entries',
    key: 'id',
    columns: { id: 'text', kind: 'text', target: 'text', is_created: 'integer', applied_at: 'integer' },
    isInBackup: true,
  },
  {
    name: 'applied_file',
    key: 'id',
    columns: { id: 'integer', generation: 'integer', digest: 'text', applied_at: 'integer' },
    isInBackup: true,
  },
];
