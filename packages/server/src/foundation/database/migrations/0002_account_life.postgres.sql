-- compatible-from: 2
-- The life of an account on PostgreSQL; what the columns mean stands in 0002_account_life.sql.

alter table accounts add column unverified_since bigint;
alter table accounts add column requires_second_factor bigint not null default 0;
create index accounts_administrators on accounts (pk) where role = 'admin';

alter table installation add column keys_imported_at bigint;

alter table sessions add column address text collate "C" not null default '';
alter table sessions add column program text not null default '';

create table outbox (
  id text collate "C" primary key,
  kind text collate "C" not null,
  queue text collate "C" not null,
  payload bytea not null,
  created_at bigint not null,
  due_at bigint not null,
  attempts bigint not null,
  claimed_until bigint not null,
  last_error text
);
create index outbox_due on outbox (queue, due_at);

create table one_time_codes (
  code_hash bytea primary key,
  purpose text collate "C" not null,
  account_pk bigint references accounts (pk) on delete cascade,
  email text,
  email_key text collate "C",
  password_hash text,
  created_at bigint not null,
  expires_at bigint not null
);
create index one_time_codes_account on one_time_codes (account_pk);
create index one_time_codes_expires on one_time_codes (expires_at);

create table second_factors (
  account_pk bigint primary key references accounts (pk) on delete cascade,
  secret bytea not null,
  created_at bigint not null,
  confirmed_at bigint,
  last_step bigint not null
);

create table recovery_codes (
  code_hash bytea primary key,
  account_pk bigint not null references accounts (pk) on delete cascade,
  created_at bigint not null
);
create index recovery_codes_account on recovery_codes (account_pk);

create table webhook_endpoints (
  id text collate "C" primary key,
  url text not null,
  secret bytea not null,
  events text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  disabled_at bigint,
  last_delivered_at bigint,
  last_failed_at bigint,
  last_failure text
);

create table webhook_progress (
  chain bigint primary key,
  position bigint not null
);

alter table audit_events add column chain bigint;
alter table audit_events add column position bigint;
alter table audit_events add column mac bytea;
create unique index audit_events_chain on audit_events (chain, position);
create table audit_chains (
  chain bigint primary key,
  events bigint not null
);
