/**
 * The tables that make up an installation, in an order in which each stands after those that it refers to. A test holds
 * this against the schema of both databases, so that no migration is forgotten here.
 */

export type ColumnKind = 'integer' | 'text' | 'bytes';

export interface Table {
  readonly name: string;
  /** One column of this name is the primary key, and what pages are ordered by. */
  readonly key: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** What a column holds where a backup from before it has none; null for all others. */
  readonly defaults?: Readonly<Record<string, number>>;
  /** Of use only while time goes on from where it was: moved, but not kept in backups. */
  readonly isPassing: boolean;
}

/** A row as a file holds it: bytes in hexadecimal. */
export type Row = Readonly<Record<string, string | number | null>>;
export type Counts = Readonly<Record<string, number>>;

export const installation = {
  name: 'installation',
  key: 'id',
  columns: { id: 'integer', master_key_check: 'bytes', created_at: 'integer', keys_imported_at: 'integer' },
  isPassing: false,
} as const satisfies Table;

export const accounts = {
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
  },
  defaults: { requires_second_factor: 0, enabled_count: 0 },
  isPassing: false,
} as const satisfies Table;

export const secondFactors = {
  name: 'second_factors',
  key: 'account_pk',
  columns: {
    account_pk: 'integer',
    secret: 'bytes',
    created_at: 'integer',
    confirmed_at: 'integer',
    last_step: 'integer',
  },
  isPassing: false,
} as const satisfies Table;

export const recoveryCodes = {
  name: 'recovery_codes',
  key: 'code_hash',
  columns: { code_hash: 'bytes', account_pk: 'integer', created_at: 'integer' },
  isPassing: false,
} as const satisfies Table;

export const webhookEndpoints = {
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
  isPassing: false,
} as const satisfies Table;

/** In a backup it says how far its audit trail had been told: what comes after is told once more, under the same ids. */
export const webhookProgress = {
  name: 'webhook_progress',
  key: 'chain',
  columns: { chain: 'integer', position: 'integer' },
  isPassing: false,
} as const satisfies Table;

export const signingKeys = {
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
  isPassing: false,
} as const satisfies Table;

export const apiKeys = {
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
  },
  defaults: { scopes_need_role: 0 },
  isPassing: false,
} as const satisfies Table;

export const keyPrefixes = {
  name: 'key_prefixes',
  key: 'prefix',
  columns: { prefix: 'text', first_used_at: 'integer' },
  isPassing: false,
} as const satisfies Table;

export const auditEvents = {
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
  isPassing: false,
} as const satisfies Table;

export const auditChains = {
  name: 'audit_chains',
  key: 'chain',
  columns: { chain: 'integer', events: 'integer' },
  isPassing: false,
} as const satisfies Table;

/** A restore ends every session, so a backup has none. */
export const sessions = {
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
  },
  isPassing: true,
} as const satisfies Table;

export const throttleBuckets = {
  name: 'throttle_buckets',
  key: 'bucket',
  columns: {
    bucket: 'bytes',
    count: 'integer',
    window_started_at: 'integer',
    blocked_until: 'integer',
    touched_at: 'integer',
  },
  isPassing: true,
} as const satisfies Table;

/** Restored, old mail would be sent again and old links would work again. */
export const outbox = {
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
  isPassing: true,
} as const satisfies Table;

export const emailChanges = {
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
  isPassing: true,
} as const satisfies Table;

export const oneTimeCodes = {
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
  isPassing: true,
} as const satisfies Table;
