-- compatible-from: 2
-- Leaked secrets of API keys. Additive. An earlier program rejects a leaked secret, because its hash is no longer stored.

-- When the current secret was reported as leaked; null: not since the last rotation. The hash of the secret is then replaced
-- by random bytes, and the key stays disabled until it is rotated.
alter table api_keys add column leaked_at integer;

-- Secrets that have leaked, as api_keys.lookup: no key can get one of them again. Rows stay when the key is deleted.
create table leaked_secrets (
  lookup integer primary key,
  leaked_at integer not null
) strict;
