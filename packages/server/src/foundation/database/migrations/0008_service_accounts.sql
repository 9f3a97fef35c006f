-- compatible-from: 2
-- Service accounts. Additive. For an earlier program they are accounts without a password: nobody signs in to them, and their
-- keys are valid.

-- person, service. The email address of a service account is its id, which equals no email address: the column is not null.
alter table accounts add column kind text not null default 'person' check (kind in ('person', 'service'));

create table service_accounts (
  account_pk integer primary key references accounts (pk) on delete cascade,
  name text not null,
  -- Chosen by the creator, for example the id of a tenant.
  external_id text,
  -- The account that created it; null after the deletion of that account.
  creator_pk integer references accounts (pk) on delete set null,
  created_at integer not null,
  -- Each change of the row or of its managers has a later time than the previous one.
  updated_at integer not null,
  unique (creator_pk, name)
) strict;
create unique index service_accounts_external_id on service_accounts (external_id, creator_pk)
  where external_id is not null;

-- The accounts that manage a service account: people, and service accounts with a management key.
create table service_account_managers (
  service_pk integer not null references service_accounts (account_pk) on delete cascade,
  manager_pk integer not null references accounts (pk) on delete cascade,
  created_at integer not null,
  primary key (service_pk, manager_pk),
  check (service_pk <> manager_pk)
) strict, without rowid;
create index service_account_managers_manager on service_account_managers (manager_pk, created_at);

-- Finds out whether a key was deleted: a secret that another system made is not accepted again.
create index audit_events_deleted_keys on audit_events (target) where action = 'api_key.deleted';
