/**
 * The list of tables from which every statement of a backup, a restore and a move derives. A test compares it with the
 * schema of both databases, so a migration that adds a column without adding it here fails.
 */
import { accountTables } from './account-tables.ts';
import { applyTables } from './apply-tables.ts';
import { issuerTables } from './issuer-tables.ts';
import { keyTables } from './key-tables.ts';
import { overviewTables } from './overview-tables.ts';
import { retentionTables } from './retention-tables.ts';
import type { Table } from './table.ts';
import { webhookTables } from './webhook-tables.ts';

/** In the order in which rows are written: each table follows the tables that it refers to. */
export const tables: readonly Table[] = [
  {
    name: 'installation',
    key: 'id',
    columns: {
      id: 'integer',
      master_key_check: 'bytes',
      created_at: 'integer',
      keys_imported_at: 'integer',
      unused_keys_checked_at: 'integer',
      unused_keys_counted_from: 'integer',
      first_environment: 'text',
      last_backup_at: 'integer',
      usage_generation: 'text',
      usage_commits: 'integer',
      restored_at: 'integer',
    },
    isInBackup: true,
  },
  // The header of a backup contains them.
  {
    name: 'root_keys',
    key: ['version', 'generation'],
    columns: {
      version: 'integer',
      generation: 'integer',
      master_key_id: 'text',
      wrapped: 'bytes',
      created_at: 'integer',
      superseded_by: 'integer',
    },
    isInBackup: false,
  },
  ...accountTables,
  {
    name: 'signing_keys',
    key: 'kid',
    columns: {
      kid: 'text',
      alg: 'text',
      public_jwk: 'text',
      private_jwk: 'bytes',
      created_at: 'integer',
      activates_at: 'integer',
      revoked_at: 'integer',
    },
    isInBackup: true,
  },
  ...issuerTables,
  ...keyTables,
  ...webhookTables,
  ...overviewTables,
  {
    name: 'audit_events',
    key: 'id',
    columns: {
      id: 'integer',
      at: 'integer',
      actor: 'text',
      action: 'text',
      account_id: 'text',
      target: 'text',
      details: 'text',
      chain: 'integer',
      position: 'integer',
      mac: 'bytes',
    },
    isInBackup: true,
  },
  {
    name: 'audit_chains',
    key: 'chain',
    columns: { chain: 'integer', events: 'integer', root_key_version: 'integer' },
    isInBackup: true,
  },
  ...retentionTables,
  ...applyTables,
  // A restore ends every session.
  {
    name: 'sessions',
    key: 'id',
    columns: {
      id: 'text',
      account_pk: 'integer',
      account_epoch: 'integer',
      created_at: 'integer',
      generation: 'integer',
      token_hash: 'bytes',
      rotated_at: 'integer',
      idle_expires_at: 'integer',
      expires_at: 'integer',
      client_ip: 'text',
      user_agent: 'text',
      kind: 'text',
      authenticated_at: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'sso_sessions',
    key: 'session_id',
    columns: { session_id: 'text', identity_id: 'text', sid: 'text' },
    isInBackup: false,
  },
  {
    name: 'rate_limit_buckets',
    key: 'bucket',
    columns: {
      bucket: 'bytes',
      count: 'integer',
      window_started_at: 'integer',
      blocked_until: 'integer',
      touched_at: 'integer',
    },
    isInBackup: false,
  },
  // A restored outbox would send old mail again, and the links in it would work again.
  {
    name: 'outbox',
    key: 'id',
    columns: {
      id: 'text',
      kind: 'text',
      queue: 'text',
      payload: 'bytes',
      created_at: 'integer',
      due_at: 'integer',
      attempts: 'integer',
      claimed_until: 'integer',
      last_error: 'text',
      handed_over: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'one_time_codes',
    key: 'code_hash',
    columns: {
      code_hash: 'bytes',
      purpose: 'text',
      account_pk: 'integer',
      email: 'text',
      email_key: 'text',
      password_hash: 'text',
      target: 'text',
      created_at: 'integer',
      expires_at: 'integer',
    },
    isInBackup: false,
  },
  // A restore ends every session, also these, and with it the approvals.
  {
    name: 'portal_sessions',
    key: 'id',
    columns: {
      id: 'text',
      account_pk: 'integer',
      key_id: 'integer',
      key_lookup: 'integer',
      token_hash: 'bytes',
      secret_hash: 'bytes',
      data: 'text',
      person: 'text',
      created_at: 'integer',
      redeemed_at: 'integer',
      expires_at: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'approval_requests',
    key: 'id',
    columns: {
      id: 'text',
      kind: 'text',
      program_id: 'text',
      user_code_hash: 'bytes',
      device_code_hash: 'bytes',
      client_range: 'text',
      state: 'text',
      data: 'text',
      account_pk: 'integer',
      key_id: 'integer',
      used_at: 'integer',
      issued_at: 'integer',
      created_at: 'integer',
      expires_at: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'email_changes',
    key: ['account_pk', 'account_epoch'],
    columns: {
      account_pk: 'integer',
      email: 'text',
      email_key: 'text',
      changed_at: 'integer',
      account_epoch: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'mail_log',
    key: 'id',
    columns: {
      id: 'text',
      account_pk: 'integer',
      email: 'text',
      email_key: 'text',
      purpose: 'text',
      created_at: 'integer',
      tried_at: 'integer',
      attempt_count: 'integer',
      delivered_at: 'integer',
      failure: 'text',
    },
    isInBackup: false,
  },
];
