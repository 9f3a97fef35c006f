-- compatible-from: 2
-- The rotation of the root key. Additive: before the first rotation, an earlier program reads the database as before. The
-- rotation itself raises compatible_from.

-- The newest version of the root key when this wrapping was made; null for a wrapping of the newest. It is authenticated, so
-- an earlier version opens only beside the newest one.
alter table root_keys add column superseded_by integer;

-- A transaction appends events only with the key of this version.
alter table audit_chains add column root_key_version integer not null default 1;

-- Where the key of a chain has changed.
create table audit_key_changes (
  chain integer not null,
  -- Of the root key whose key the following events have.
  version integer not null,
  -- The last event under the earlier key, and its MAC. Position 0: there was none.
  position integer not null,
  mac blob,
  changed_at integer not null,
  -- MAC of the row, under the key of the newest version.
  seal blob not null,
  primary key (chain, version)
) strict, without rowid;
