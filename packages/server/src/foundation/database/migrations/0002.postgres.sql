-- compatible-from: 1
-- Keys without secrets: issuers of identity tokens, keys that trust an issuer, and short-lived secrets that were issued for
-- such a token or for the secret of a key. An earlier program rejects keys with a trust, by the version of their rules.

-- Whose tokens can be exchanged for short-lived secrets.
create table issuers (
  id bigint primary key,
  -- The service account whose keys may trust it; null: keys of all accounts.
  account_pk bigint references accounts (pk) on delete cascade,
  -- The claim iss, character for character.
  url text not null,
  -- The name of the preset from which it was made; null: none.
  preset text,
  -- JWS algorithms (RFC 7518), separated by spaces.
  algorithms text not null,
  -- The longest accepted time from iat to exp.
  lifetime_seconds integer not null,
  -- once: a token is accepted once, by its claim jti. until-exp: until it expires.
  replay text not null,
  -- JSON arrays of JSON pointers (RFC 6901): claims of which a trust must name one; claims that are lists.
  id_claims text not null,
  list_claims text not null,
  -- A fixed JWK set, in JSON; null: it is fetched.
  jwks text,
  -- Increases with each change that removes rights: short-lived secrets of an earlier version have ended.
  version integer not null default 1,
  -- Increases with each demand to fetch the JWK set anew.
  refreshes integer not null default 0,
  created_at bigint not null,
  -- Each change has a later time than the previous one.
  updated_at bigint not null
);
create unique index issuers_url on issuers (url, account_pk) where account_pk is not null;
create unique index issuers_common_url on issuers (url) where account_pk is null;
create index issuers_account on issuers (account_pk);

-- The trust of a key, as JSON in canonical form, instead of a secret or a public key; and its issuer, which may be gone.
alter table api_keys add column trust text;
alter table api_keys add column issuer_id bigint;
create index api_keys_issuer on api_keys (issuer_id, id) where issuer_id is not null;
alter table api_key_secrets add column trust text;
alter table api_key_secrets add column issuer_id bigint;
create index api_key_secrets_issuer on api_key_secrets (issuer_id, key_id) where issuer_id is not null;

-- For a token of an issuer: its id, and its version at the exchange. Null for other short-lived secrets.
alter table short_lived_secrets add column issuer_id bigint;
alter table short_lived_secrets add column issuer_version integer;

-- Tokens that are accepted once. token: the SHA-256 of the claim jti.
create table used_tokens (
  issuer_id bigint not null,
  token bytea not null,
  -- When the token has expired, so that its row can be deleted.
  expires_at bigint not null,
  primary key (issuer_id, token)
);
create index used_tokens_expiry on used_tokens (expires_at);

-- The last tokens of a key with a trust: accepted ones, and ones with a valid signature and audience that did not match.
create table key_tokens (
  key_id bigint not null references api_keys (id) on delete cascade,
  is_accepted integer not null,
  -- 0, 1, …: a further token replaces the oldest one.
  slot integer not null,
  at bigint not null,
  issuer text not null,
  subject text,
  -- JSON, of a token that did not match: the reason, and the claims as far as the bound allows.
  reason text,
  claims text,
  primary key (key_id, is_accepted, slot)
);

-- The last restore of a backup or replay of the deletion journal, which may have lost rows of used_tokens; null: none.
alter table installation add column restored_at bigint;
