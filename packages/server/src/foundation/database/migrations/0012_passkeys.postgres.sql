-- compatible-from: 2
-- Passkeys (WebAuthn) on PostgreSQL; 0012_passkeys.sql explains the columns and tables.

alter table second_factors add column kind text collate "C" not null default 'totp';
alter table second_factors add column pending_secret bytea;
alter table second_factors add column pending_at bigint;

create table passkeys (
  id text collate "C" primary key,
  account_pk bigint not null references second_factors (account_pk) on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  counter bigint not null,
  rp_id text collate "C" not null,
  transports text collate "C" not null,
  backed_up integer not null,
  name text collate "C" not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_account on passkeys (account_pk);

create table used_challenges (
  mac bytea primary key,
  expires_at bigint not null
);
create index used_challenges_expiry on used_challenges (expires_at);
