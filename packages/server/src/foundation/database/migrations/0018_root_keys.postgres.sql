-- compatible-from: 2
-- Root keys, encrypted with the master key, on PostgreSQL; 0018_root_keys.sql explains the columns.

create table root_keys (
  version bigint not null,
  generation bigint not null,
  master_key_id text collate "C" not null,
  wrapped bytea not null,
  created_at bigint not null,
  primary key (version, generation),
  unique (version, master_key_id)
);

alter table instances add column master_key_id text collate "C";
