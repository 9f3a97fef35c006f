-- compatible-from: 2
-- The scope catalogue on PostgreSQL; 0006_scope_catalogue.sql explains the columns.

create table scopes (
  name text primary key,
  description text not null,
  needs_entitlement integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  revision bigint not null
);

alter table accounts add column entitlements text;
alter table accounts add column entitlements_revision bigint not null default 0;
