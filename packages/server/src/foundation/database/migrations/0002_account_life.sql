-- compatible-from: 2
-- The life of an account. An older program must not start on it: it would sign in without the second factor.

-- Null: the email is verified. So are all accounts that an operator made.
alter table accounts add column unverified_since integer;
-- 1: a session needs a second factor, also while none is enrolled.
alter table accounts add column requires_second_factor integer not null default 0;
-- They are few, and whoever takes the role from one must know how many are left.
create index accounts_administrators on accounts (pk) where role = 'admin';

-- Since then there may be keys that other systems made: what has none of our prefixes is looked up as well. Null: never.
alter table installation add column keys_imported_at integer;

-- From where the session was begun, and by which program (User-Agent, cut).
alter table sessions add column address text not null default '';
alter table sessions add column program text not null default '';

-- What is to be done after the commit that asks for it: mail, webhooks, and what must not show in an answer's time.
create table outbox (
  -- The same at every attempt.
  id text primary key,
  kind text not null,
  -- Whose queue it stands in; work of one queue never waits for another's.
  queue text not null,
  -- JSON, sealed under the master key with the id: it may hold a link with a code.
  payload blob not null,
  created_at integer not null,
  due_at integer not null,
  attempts integer not null,
  -- Until then somebody is at it.
  claimed_until integer not null,
  last_error text
) strict, without rowid;
create index outbox_due on outbox (queue, due_at);

-- One-time codes, sent by mail or told once. A code is good for its own purpose only.
create table one_time_codes (
  code_hash blob primary key,
  purpose text not null,
  -- Null for the first administrator's: there is no account yet.
  account_pk integer references accounts (pk) on delete cascade,
  -- The new address of a change of email.
  email text,
  email_key text,
  -- The password of the sign-up that the code was sent for.
  password_hash text,
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;
create index one_time_codes_account on one_time_codes (account_pk);
create index one_time_codes_expires on one_time_codes (expires_at);

create table second_factors (
  account_pk integer primary key references accounts (pk) on delete cascade,
  -- Sealed under the master key with the account's id.
  secret blob not null,
  created_at integer not null,
  -- Null while it is being enrolled.
  confirmed_at integer,
  -- The time step of the last accepted code: none up to it is accepted again (RFC 6238 section 5.2).
  last_step integer not null
) strict;

create table recovery_codes (
  code_hash blob primary key,
  account_pk integer not null references accounts (pk) on delete cascade,
  created_at integer not null
) strict, without rowid;
create index recovery_codes_account on recovery_codes (account_pk);

create table webhook_endpoints (
  id text primary key,
  url text not null,
  -- JSON with the one before where that is still good, sealed under the master key with the id.
  secret blob not null,
  -- Event names, separated by spaces.
  events text not null,
  created_at integer not null,
  updated_at integer not null,
  disabled_at integer,
  -- How its deliveries went; the first two are kept to the minute.
  last_delivered_at integer,
  last_failed_at integer,
  last_failure text
) strict, without rowid;
-- How far the events of each chain of the audit trail have been looked at for webhooks.
create table webhook_progress (
  chain integer primary key,
  position integer not null
) strict;

-- Each event stands in one of a fixed number of chains; within it, its MAC covers the one before. Null: from before.
alter table audit_events add column chain integer;
alter table audit_events add column position integer;
alter table audit_events add column mac blob;
create unique index audit_events_chain on audit_events (chain, position);
-- How many events each chain has. The row is the lock under which the next is added.
create table audit_chains (
  chain integer primary key,
  events integer not null
) strict;
