-- compatible-from: 1
-- The first schema. Times are integer milliseconds since 1970 in UTC. Columns that end in _at and may be null are states.

create table installation (
  id integer primary key check (id = 1),
  -- HKDF of the master key: tells a wrong master key from the right one.
  master_key_check blob not null,
  created_at integer not null
) strict;

create table audit_events (
  id integer primary key autoincrement,
  at integer not null,
  -- Who did it: 'account:<id>', 'operator' (the command line) or 'system'.
  actor text not null,
  action text not null,
  account_id text,
  -- What it was done to, by id.
  target text,
  -- JSON.
  details text
) strict;
create index audit_events_account on audit_events (account_id, id);

create table signing_keys (
  kid text primary key,
  alg text not null,
  public_jwk text not null,
  -- Sealed under the master key with the kid.
  private_jwk blob not null,
  created_at integer not null,
  -- From then on it signs, until the next one does.
  activates_at integer not null,
  revoked_at integer
) strict, without rowid;

create table throttle_buckets (
  -- Keyed hash of what is counted: no email and no address is kept here.
  bucket blob primary key,
  count integer not null,
  window_started_at integer not null,
  blocked_until integer not null,
  touched_at integer not null
) strict, without rowid;
create index throttle_buckets_touched on throttle_buckets (touched_at);

create table accounts (
  -- Within the database only: a join over an integer costs less than one over the id.
  pk integer primary key autoincrement,
  id text not null unique,
  -- As typed, in NFC: where mail goes.
  email text not null,
  -- Normalised: what is compared.
  email_key text not null unique,
  -- PHC string.
  password_hash text not null,
  role text not null check (role in ('user', 'admin')),
  -- A session lives only while it carries the account's current epoch.
  session_epoch integer not null,
  created_at integer not null,
  updated_at integer not null,
  disabled_at integer
) strict;

create table sessions (
  id text primary key,
  account_pk integer not null references accounts (pk) on delete cascade,
  account_epoch integer not null,
  created_at integer not null,
  -- Of the refresh token that is current now; and when it became so.
  generation integer not null,
  token_hash blob not null,
  rotated_at integer not null,
  idle_expires_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index sessions_account on sessions (account_pk, created_at);
create index sessions_expires on sessions (expires_at);

create table api_keys (
  -- The first 53 bits of key_hash, and the table's own order: a verification finds the row in one descent over integers
  -- (docs/decisions/0003-hot-path.md). key_hash decides.
  lookup integer primary key,
  key_hash blob not null,
  id integer not null unique,
  account_pk integer not null references accounts (pk) on delete cascade,
  nickname text not null,
  -- Separated by spaces.
  scopes text not null,
  expires_at integer,
  last_used_at integer,
  created_at integer not null,
  updated_at integer not null,
  unique (account_pk, nickname)
) strict;
