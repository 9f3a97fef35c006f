-- compatible-from: 1
-- Programs that sign in as a device and get an API key (RFC 8628), and requests that wait for the approval of a person.

create table programs (
  -- The client_id.
  id text primary key,
  name text not null,
  -- The scopes that its keys may have, separated by spaces.
  scopes text not null,
  -- The longest lifetime of its keys. 0: a replay of the deletion journal repeated a narrowing; nobody can approve it.
  lifetime_seconds integer not null,
  created_at integer not null,
  -- Each change has a later time than the previous one.
  updated_at integer not null
) strict, without rowid;

create table approval_requests (
  -- Random, not a secret.
  id text primary key,
  -- device: a program asks for an API key.
  kind text not null,
  program_id text not null references programs (id) on delete cascade,
  -- Keyed hashes of the code that the person enters, and of the one that the program has.
  user_code_hash blob not null,
  device_code_hash blob not null,
  client_range text not null,
  -- pending, approved, denied or used.
  state text not null,
  -- JSON: what is requested; of an approved request what is approved, and the session that approved it.
  data text not null,
  -- Who decided.
  account_pk integer references accounts (pk) on delete cascade,
  -- Of a used request: the key, when it was created, and when its secret was issued last.
  key_id integer,
  used_at integer,
  issued_at integer,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create unique index approval_requests_user_code on approval_requests (user_code_hash);
create unique index approval_requests_device_code on approval_requests (device_code_hash);
-- Counts the outstanding requests of a program.
create index approval_requests_pending on approval_requests (program_id, client_range, expires_at) where state = 'pending';
create index approval_requests_expiry on approval_requests (expires_at);
create index approval_requests_account on approval_requests (account_pk) where account_pk is not null;

-- The id of the program that made the key, which may have been removed.
alter table api_keys add column program text;
create index api_keys_program on api_keys (program, id) where program is not null;

-- What a code is about, besides the account: of remove_key the id of the key.
alter table one_time_codes add column target text;
