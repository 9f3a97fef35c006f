-- compatible-from: 1
-- The second file of an SQLite database: what verifications write (docs/decisions/05-limits-and-usage.md). On PostgreSQL, the
-- tables key_usage and key_last_uses are in the database.

create table usage_file (
  id integer primary key check (id = 1),
  -- As in installation.usage_generation of the database that the file belongs to.
  generation text not null,
  -- Each commit adds one.
  commits integer not null default 0
) strict;

-- Verifications of each key in an hour or a day, both in UTC. There is no foreign key, so that the deletion of a key
-- does not wait for its rows, which are deleted later. The rows of an hour are adjacent, so that a flush changes few pages.
create table key_usage (
  -- hour, day
  step text not null,
  -- Start of the hour or day.
  at integer not null,
  key_id integer not null,
  accepted integer not null,
  refused integer not null,
  primary key (step, at, key_id)
) strict, without rowid;
create index key_usage_key on key_usage (key_id, at);

-- The last use of each key. There is no foreign key; rows of deleted keys are deleted later. The key 0 has the last verification
-- that was counted for no key.
create table key_last_uses (
  key_id integer primary key,
  last_used_at integer not null,
  -- The client IP range of the last use; null if it is not known.
  last_used_from text,
  -- api_keys.updated_at at the newest use of the current secret or public key, and the client IP ranges from which it was used since
  -- that change and for 14 days after it, separated by spaces.
  changed_at integer not null,
  used_from text,
  -- The last use of a previous secret or public key, and which one: api_key_secrets.expires_at.
  previous_used_at integer,
  previous_ends_at integer
) strict;
