-- compatible-from: 2
-- Changes of API keys: disabling, IP ranges, metadata, rotation, usage. Additive. An earlier program rejects keys that are
-- disabled or restricted, because it does not find their hashes (see key_hash below).

-- A key that is disabled or has IP ranges has a key_hash that starts with the byte 2 instead of 1. Programs that do not
-- evaluate these columns compare the whole hash, so they reject such a key.
alter table api_keys add column disabled_at integer;
-- owner, administrator, dormant, restore; null if the key is not disabled.
alter table api_keys add column disabled_reason text;
-- CIDR ranges in canonical form, separated by spaces; null: the key is valid from any IP address.
alter table api_keys add column addresses text;
-- A JSON object of the owner, which a verification result contains; null: none.
alter table api_keys add column metadata text;
-- The prefix and the last four characters of the secret; null for keys of earlier programs and imported keys.
alter table api_keys add column hint text;
-- The client IP range of the last use; null if it is not known.
alter table api_keys add column last_used_from text;
-- Increases with every change. A change of unknown outcome is repeated as a whole only while the revision is unchanged;
-- afterwards, only its removal of rights is repeated.
alter table api_keys add column revision integer not null default 0;

-- The last check for unused keys (null: never), and the earliest time from which days without a use count (null: any).
alter table installation add column unused_keys_checked_at integer;
alter table installation add column unused_keys_counted_from integer;

-- Previous secrets: after a rotation, the replaced secret of a key is valid until its expiry.
create table api_key_secrets (
  -- As in api_keys.
  lookup integer primary key,
  key_hash blob not null,
  key_id integer not null unique references api_keys (id) on delete cascade,
  expires_at integer not null,
  last_used_at integer
) strict;

-- Verifications of each key in an hour or a day, both in UTC. There is no foreign key, so that the deletion of a key
-- does not wait for its rows, which are deleted later. The rows of an hour are adjacent, so that a flush changes few pages.
create table key_usage (
  -- hour, day
  step text not null,
  -- Start of the hour or day, in milliseconds.
  at integer not null,
  key_id integer not null,
  accepted integer not null,
  refused integer not null,
  primary key (step, at, key_id)
) strict, without rowid;
create index key_usage_key on key_usage (key_id, at);

-- Progress of the expiry notices: for each notice, the next day of expiry and the last processed key of that day. All keys
-- of a day are processed together, so that an account gets one mail for them.
create table expiry_notices (
  -- Days from the notice to the expiry: 14 or 3.
  days integer primary key,
  -- Day of expiry: days since 1970, in UTC.
  day integer not null,
  -- 0: no key of the day has been processed.
  account_pk integer not null,
  key_id integer not null
) strict;
create index api_keys_expiry on api_keys (expires_at / 86400000, account_pk, id) where expires_at is not null;

-- Finds a change of a key by the time of the change: an account can have millions of audit events.
create index audit_events_key_changes on audit_events (target, at)
  where action in ('api_key.disabled', 'api_key.rotated', 'api_key.previous_ended', 'api_key.updated');

-- An earlier program that restores or moves a database with this schema omits the restrictions. Verification rejects such a key,
-- and the next start disables it.
create index api_keys_unrestricted on api_keys (id)
  where disabled_at is null and addresses is null and key_hash >= x'02';
