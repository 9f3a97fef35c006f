-- compatible-from: 2
-- API keys with a public key instead of a secret, and their short-lived secrets. Additive. An earlier program rejects both,
-- because it finds no secret of such a key.

-- A public key: a JWK (RFC 7517) in canonical form; null: the key has a secret. lookup and key_hash are then random.
alter table api_keys add column public_key text;
-- The previous public key, after a rotation.
alter table api_key_secrets add column public_key text;

-- Secrets that were issued for an assertion (RFC 7523).
create table short_lived_secrets (
  -- As in api_keys.
  lookup integer primary key,
  key_hash blob not null,
  key_id integer not null references api_keys (id) on delete cascade,
  -- The lookup of the public key that verified the assertion, in api_keys or api_key_secrets. The secret ends with it.
  issued_by integer not null,
  -- The claim jti of the assertion, which yields only one secret.
  assertion_id text not null,
  created_at integer not null,
  -- Earlier than planned for a secret that has been ended.
  expires_at integer not null,
  unique (key_id, assertion_id)
) strict;
create index short_lived_secrets_created on short_lived_secrets (created_at);
create index short_lived_secrets_live on short_lived_secrets (key_id, expires_at);
