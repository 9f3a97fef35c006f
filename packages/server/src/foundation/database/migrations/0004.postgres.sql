-- compatible-from: 1
-- Portal sessions: the key page in the product of the operator of a management key.

create table portal_sessions (
  -- Random, not a secret.
  id text primary key,
  -- The service account.
  account_pk bigint not null references accounts (pk) on delete cascade,
  -- The management key that created it, which may have been deleted, and the lookup of the secret that was presented.
  key_id bigint not null,
  key_lookup bigint not null,
  -- Keyed hashes of the token, which works once, and of the secret that it was exchanged for.
  token_hash bytea not null,
  secret_hash bytea,
  -- JSON: capabilities, scopes, person, origin and returnUrl.
  data text not null,
  -- The id of the person, if it is known.
  person text,
  created_at bigint not null,
  -- Null: the token was not used.
  redeemed_at bigint,
  -- Before the use of the token, that of the token.
  expires_at bigint not null
);
create unique index portal_sessions_secret on portal_sessions (secret_hash) where secret_hash is not null;
create index portal_sessions_account on portal_sessions (account_pk);
create index portal_sessions_expiry on portal_sessions (expires_at);
