-- compatible-from: 2
-- API keys with a public key on PostgreSQL; 0010_public_keys.sql explains the columns.

alter table api_keys add column public_key text collate "C";
alter table api_key_secrets add column public_key text collate "C";

create table short_lived_secrets (
  lookup bigint primary key,
  key_hash bytea not null,
  key_id bigint not null references api_keys (id) on delete cascade,
  issued_by bigint not null,
  assertion_id text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  unique (key_id, assertion_id)
);
create index short_lived_secrets_created on short_lived_secrets (created_at);
create index short_lived_secrets_live on short_lived_secrets (key_id, expires_at);
