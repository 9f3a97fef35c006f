-- compatible-from: 2
-- The scope catalogue on PostgreSQL; 0006_scope_catalogue.sql explains the columns.

create table scopes (
  name text collate "C" primary key,
  description text collate "C" not null,
  needs_entitlement integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  revision bigint not null
);

alter table accounts add column entitlements text collate "C";
alter table accounts add column entitlements_revision bigint not null default 0;
