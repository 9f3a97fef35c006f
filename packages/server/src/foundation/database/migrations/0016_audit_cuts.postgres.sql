-- compatible-from: 2
-- The retention of audit events, on PostgreSQL; 0016_audit_cuts.sql explains the columns.

create table audit_cuts (
  chain bigint primary key,
  position bigint not null,
  mac bytea not null,
  event_id bigint not null,
  events_before bigint not null,
  days bigint not null,
  cut_at bigint not null,
  seal bytea not null
);

create table audit_retention (
  id integer primary key check (id = 1),
  passed_at bigint not null,
  run_at bigint,
  blocked text collate "C"
);

create table deleted_keys (
  id bigint primary key
);

create index webhook_deliveries_event on webhook_deliveries (chain, position);
