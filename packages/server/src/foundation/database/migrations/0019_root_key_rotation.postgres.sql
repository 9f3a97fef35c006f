-- compatible-from: 2
-- The rotation of the root key, on PostgreSQL; 0019_root_key_rotation.sql explains the columns.

alter table root_keys add column superseded_by bigint;

alter table audit_chains add column root_key_version bigint not null default 1;

create table audit_key_changes (
  chain bigint not null,
  version bigint not null,
  position bigint not null,
  mac bytea,
  changed_at bigint not null,
  seal bytea not null,
  primary key (chain, version)
);
