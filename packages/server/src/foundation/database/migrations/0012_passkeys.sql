-- compatible-from: 2
-- Passkeys (WebAuthn). Additive. An earlier program asks an account with passkeys for a code. Without an authenticator app, it
-- accepts only a recovery code.

-- totp: an authenticator app, perhaps with passkeys. passkeys: passkeys alone. No device has the secret then, and last_step is
-- so high that no code is accepted.
alter table second_factors add column kind text not null default 'totp';
-- The secret of an authenticator app that is being enrolled beside passkeys, and the time at which that began.
alter table second_factors add column pending_secret blob;
alter table second_factors add column pending_at integer;

-- Refers to the second factor, not to the account: every program that removes a second factor removes the passkeys as well.
create table passkeys (
  id text primary key,
  account_pk integer not null references second_factors (account_pk) on delete cascade,
  credential_id blob not null unique,
  -- COSE_Key (RFC 9052).
  public_key blob not null,
  -- The signature counter of the last use. Always 0 for most passkeys that a password manager synchronises.
  counter integer not null,
  -- The relying party id that the authenticator has it for.
  rp_id text not null,
  -- Separated by commas: how browsers can reach the authenticator.
  transports text not null,
  -- 1 if it is backed up, and so possibly on several devices.
  backed_up integer not null,
  name text not null,
  created_at integer not null,
  last_used_at integer
) strict;
create index passkeys_account on passkeys (account_pk);

-- Challenges that a passkey has answered. Each works once. Unused challenges are not stored.
create table used_challenges (
  mac blob primary key,
  expires_at integer not null
) strict;
create index used_challenges_expiry on used_challenges (expires_at);
