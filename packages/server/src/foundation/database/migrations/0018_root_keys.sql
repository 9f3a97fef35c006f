-- compatible-from: 2
-- Root keys, encrypted with the master key. Additive: an earlier program derives its keys from the master key itself, which is
-- the root key of an installation that it created. As soon as that no longer holds, the program raises compatible_from.

-- A version of the root key, wrapped by a master key.
create table root_keys (
  version integer not null,
  -- Rises with each rotation of the master key. During a rotation, two generations exist.
  generation integer not null,
  -- 16 hexadecimal digits that derive from the master key.
  master_key_id text not null,
  -- AES-256-GCM; the other columns except created_at are authenticated.
  wrapped blob not null,
  -- When the master key was created or added, in milliseconds.
  created_at integer not null,
  primary key (version, generation),
  unique (version, master_key_id)
) strict;

-- The master key that the process started with. Null: an earlier program.
alter table instances add column master_key_id text;
