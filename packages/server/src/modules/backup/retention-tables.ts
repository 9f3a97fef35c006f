/** Tables of the retention of audit events. Part of the list in tables.ts. */
import type { Table } from './table.ts';

export const retentionTables: readonly Table[] = [
  {
    name: 'audit_cuts',
    key: 'chain',
    columns: {
      chain: 'integer',
      position: 'integer',
      mac: 'bytes',
      event_id: 'integer',
      events_before: 'integer',
      days: 'integer',
      cut_at: 'integer',
      seal: 'bytes',
    },
    isInBackup: true,
  },
  {
    name: 'audit_key_changes',
    key: ['chain', 'version'],
    columns: {
      chain: 'integer',
      version: 'integer',
      position: 'integer',
      mac: 'bytes',
      changed_at: 'integer',
      seal: 'bytes',
    },
    isInBackup: true,
  },
  // The times of the run are those of the service, which a restore may set years back.
  {
    name: 'audit_retention',
    key: 'id',
    columns: { id: 'integer', passed_at: 'integer', jumped_ms: 'integer', run_at: 'integer', blocked: 'text' },
    isInBackup: false,
  },
  { name: 'deleted_keys', key: 'id', columns: { id: 'integer' }, isInBackup: true },
];
