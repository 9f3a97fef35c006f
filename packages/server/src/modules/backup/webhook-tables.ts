/** Tables of webhooks. Part of the list in tables.ts. */
import type { Table } from './table.ts';

export const webhookTables: readonly Table[] = [
  {
    name: 'webhook_endpoints',
    key: 'id',
    columns: {
      id: 'text',
      url: 'text',
      secret: 'bytes',
      events: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      disabled_at: 'integer',
      last_delivered_at: 'integer',
      last_failed_at: 'integer',
      last_failure: 'text',
      failing_since: 'integer',
    },
    isInBackup: true,
  },
  // Events after the position in the backup are delivered again, with the same ids.
  {
    name: 'webhook_progress',
    key: 'chain',
    columns: { chain: 'integer', position: 'integer' },
    isInBackup: true,
  },
  {
    name: 'webhook_deliveries',
    key: 'id',
    columns: {
      id: 'text',
      endpoint_id: 'text',
      type: 'text',
      event_at: 'integer',
      chain: 'integer',
      position: 'integer',
      started_at: 'integer',
      tried_at: 'integer',
      delivered: 'integer',
      attempt_count: 'integer',
      attempts: 'text',
    },
    isInBackup: false,
  },
];
