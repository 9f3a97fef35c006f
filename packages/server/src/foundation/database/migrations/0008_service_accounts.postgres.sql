-- compatible-from: 2
-- Service accounts on PostgreSQL; 0008_service_accounts.sql explains the columns.

alter table accounts add column kind text collate "C" not null default 'person' check (kind in ('person', 'service'));

create table service_accounts (
  account_pk bigint primary key references accounts (pk) on delete cascade,
  name text collate "C" not null,
  external_id text collate "C",
  creator_pk bigint references accounts (pk) on delete set null,
  created_at bigint not null,
  updated_at bigint not null,
  unique (creator_pk, name)
);
create unique index service_accounts_external_id on service_accounts (external_id, creator_pk)
  where external_id is not null;

create table service_account_managers (
  service_pk bigint not null references service_accounts (account_pk) on delete cascade,
  manager_pk bigint not null references accounts (pk) on delete cascade,
  created_at bigint not null,
  primary key (service_pk, manager_pk),
  check (service_pk <> manager_pk)
);
create index service_account_managers_manager on service_account_managers (manager_pk, created_at);

create index audit_events_deleted_keys on audit_events (target) where action = 'api_key.deleted';
