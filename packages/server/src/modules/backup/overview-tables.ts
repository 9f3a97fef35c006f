/** Tables of the overview. Part of the list in tables.ts. */
import type { Table } from './table.ts';

export const overviewTables: readonly Table[] = [
  {
    name: 'verification_minutes',
    key: ['minute', 'instance'],
    columns: { minute: 'integer', instance: 'text', counts: 'text' },
    isInBackup: false,
  },
  {
    name: 'instances',
    key: 'id',
    columns: {
      id: 'text',
      version: 'text',
      started_at: 'integer',
      seen_at: 'integer',
      master_key_id: 'text',
      settings: 'text',
    },
    isInBackup: false,
  },
];
