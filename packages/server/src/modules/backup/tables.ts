/**
 * The list of tables from which every statement of a backup, a restore and a move derives. A test compares it with the
 * schema of both databases, so a migration that adds a column without adding it here fails.
 */

export type ColumnKind = 'integer' | 'text' | 'bytes';

export interface Table {
  readonly name: string;
  /** The column or columns of the primary key, which orders the pages. */
  readonly key: string | readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Values for columns that the backup of an older version lacks. Other missing columns become null. */
  readonly defaults?: Readonly<Record<string, number | string>>;
  /** False for rows that are worthless after a restore. A move copies them. */
  readonly isInBackup: boolean;
}

/** A row as a backup holds it: bytes are hexadecimal text. */
export type Row = Readonly<Record<string, string | number | null>>;
/** Number of rows by table name. */
export type Counts = Readonly<Record<string, number>>;

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
    },
    isInBackup: true,
  },
  {
    name: 'accounts',
    key: 'pk',
    columns: {
      pk: 'integer',
      id: 'text',
      email: 'text',
      email_key: 'text',
      password_hash: 'text',
      role: 'text',
      session_epoch: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
      disabled_at: 'integer',
      unverified_since: 'integer',
      requires_second_factor: 'integer',
      enabled_count: 'integer',
      signed_up_at: 'integer',
      language: 'text',
      email_unconfirmed_since: 'integer',
      limits: 'text',
      entitlements: 'text',
      entitlements_revision: 'integer',
      kind: 'text',
    },
    defaults: { requires_second_factor: 0, enabled_count: 0, entitlements_revision: 0, kind: 'person' },
    isInBackup: true,
  },
  {
    name: 'service_accounts',
    key: 'account_pk',
    columns: {
      account_pk: 'integer',
      name: 'text',
      external_id: 'text',
      creator_pk: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    isInBackup: true,
  },
  {
    name: 'service_account_managers',
    key: ['service_pk', 'manager_pk'],
    columns: { service_pk: 'integer', manager_pk: 'integer', created_at: 'integer' },
    isInBackup: true,
  },
  {
    name: 'second_factors',
    key: 'account_pk',
    columns: {
      account_pk: 'integer',
      secret: 'bytes',
      created_at: 'integer',
      confirmed_at: 'integer',
      last_step: 'integer',
      kind: 'text',
      pending_secret: 'bytes',
      pending_at: 'integer',
    },
    defaults: { kind: 'totp' },
    isInBackup: true,
  },
  {
    name: 'passkeys',
    key: 'id',
    columns: {
      id: 'text',
      account_pk: 'integer',
      credential_id: 'bytes',
      public_key: 'bytes',
      counter: 'integer',
      rp_id: 'text',
      transports: 'text',
      backed_up: 'integer',
      name: 'text',
      created_at: 'integer',
      last_used_at: 'integer',
    },
    isInBackup: true,
  },
  // Challenges are valid for minutes.
  {
    name: 'used_challenges',
    key: 'mac',
    columns: { mac: 'bytes', expires_at: 'integer' },
    isInBackup: false,
  },
  {
    name: 'recovery_codes',
    key: 'code_hash',
    columns: { code_hash: 'bytes', account_pk: 'integer', created_at: 'integer' },
    isInBackup: true,
  },
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
  {
    name: 'api_keys',
    key: 'lookup',
    columns: {
      lookup: 'integer',
      key_hash: 'bytes',
      id: 'integer',
      account_pk: 'integer',
      nickname: 'text',
      scopes: 'text',
      expires_at: 'integer',
      last_used_at: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
      scopes_need_role: 'integer',
      disabled_at: 'integer',
      disabled_reason: 'text',
      addresses: 'text',
      metadata: 'text',
      limits: 'text',
      hint: 'text',
      last_used_from: 'text',
      revision: 'integer',
      environment: 'text',
      leaked_at: 'integer',
      public_key: 'text',
    },
    defaults: { scopes_need_role: 0, revision: 0 },
    isInBackup: true,
  },
  {
    name: 'api_key_secrets',
    key: 'lookup',
    columns: {
      lookup: 'integer',
      key_hash: 'bytes',
      key_id: 'integer',
      expires_at: 'integer',
      last_used_at: 'integer',
      public_key: 'text',
    },
    isInBackup: true,
  },
  {
    name: 'leaked_secrets',
    key: 'lookup',
    columns: { lookup: 'integer', leaked_at: 'integer' },
    isInBackup: true,
  },
  {
    name: 'short_lived_secrets',
    key: 'lookup',
    columns: {
      lookup: 'integer',
      key_hash: 'bytes',
      key_id: 'integer',
      issued_by: 'integer',
      assertion_id: 'text',
      created_at: 'integer',
      expires_at: 'integer',
    },
    isInBackup: false,
  },
  // A restore continues after the last notice of the backup; older ones are not repeated.
  {
    name: 'expiry_notices',
    key: 'days',
    columns: { days: 'integer', day: 'integer', account_pk: 'integer', key_id: 'integer' },
    isInBackup: true,
  },
  {
    name: 'key_usage',
    key: ['step', 'at', 'key_id'],
    columns: { step: 'text', at: 'integer', key_id: 'integer', accepted: 'integer', refused: 'integer' },
    isInBackup: true,
  },
  // Without its rows, a restore would grant quotas of the current period again.
  {
    name: 'key_meters',
    key: ['subject', 'kind'],
    columns: {
      subject: 'text',
      kind: 'text',
      tat: 'integer',
      used: 'integer',
      period: 'text',
    },
    isInBackup: true,
  },
  {
    name: 'quota_notices',
    key: ['subject', 'period', 'quantity'],
    columns: { subject: 'text', period: 'text', quantity: 'integer' },
    isInBackup: true,
  },
  {
    name: 'key_prefixes',
    key: 'prefix',
    columns: { prefix: 'text', first_used_at: 'integer', environment: 'text' },
    isInBackup: true,
  },
  {
    name: 'scopes',
    key: 'name',
    columns: {
      name: 'text',
      description: 'text',
      needs_entitlement: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
      deleted_at: 'integer',
      revision: 'integer',
    },
    isInBackup: true,
  },
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
    columns: { chain: 'integer', events: 'integer' },
    isInBackup: true,
  },
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
      address: 'text',
      program: 'text',
      kind: 'text',
      authenticated_at: 'integer',
    },
    defaults: { kind: 'tokens' },
    isInBackup: false,
  },
  {
    name: 'throttle_buckets',
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
      created_at: 'integer',
      expires_at: 'integer',
    },
    isInBackup: false,
  },
  {
    name: 'email_changes',
    key: 'code_hash',
    columns: {
      code_hash: 'bytes',
      account_pk: 'integer',
      email: 'text',
      email_key: 'text',
      changed_at: 'integer',
      account_epoch: 'integer',
      undo_until: 'integer',
    },
    isInBackup: false,
  },
];
