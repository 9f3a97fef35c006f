-- compatible-from: 2
-- Changes of API keys on PostgreSQL; 0004_key_changes.sql explains the columns.

alter table api_keys add column disabled_at bigint;
alter table api_keys add column disabled_reason text;
alter table api_keys add column addresses text;
alter table api_keys add column metadata text;
alter table api_keys add column hint text;
alter table api_keys add column last_used_from text;
alter table api_keys add column revision bigint not null default 0;

alter table installation add column unused_keys_checked_at bigint;
alter table installation add column unused_keys_counted_from bigint;

create table api_key_secrets (
  lookup bigint primary key,
  key_hash bytea not null,
  key_id bigint not null unique references api_keys (id) on delete cascade,
  expires_at bigint not null,
  last_used_at bigint
);

create table key_usage (
  step text not null,
  at bigint not null,
  key_id bigint not null,
  accepted bigint not null,
  refused bigint not null,
  primary key (step, at, key_id)
);
create index key_usage_key on key_usage (key_id, at);

create table expiry_notices (
  days integer primary key,
  day bigint not null,
  account_pk bigint not null,
  key_id bigint not null
);
create index api_keys_expiry on api_keys ((expires_at / 86400000), account_pk, id) where expires_at is not null;

create index audit_events_key_changes on audit_events (target, at)
  where action in ('api_key.disabled', 'api_key.rotated', 'api_key.previous_ended', 'api_key.updated');

create index api_keys_unrestricted on api_keys (id)
  where disabled_at is null and addresses is null and key_hash >= '\x02';
