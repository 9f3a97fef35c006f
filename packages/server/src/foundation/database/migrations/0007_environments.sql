-- compatible-from: 2
-- Environments of API keys. Additive. An earlier program rejects keys of further environments, because it does not find their
-- hashes: as those of disabled keys, they begin with the byte 2.

-- The name of a further environment (KEYREEVE_ENVIRONMENTS); null: the first one, which all earlier keys belong to.
alter table api_keys add column environment text;
-- The name of the first environment since the setting was first used; null: it never was.
alter table installation add column first_environment text;
-- The environment whose new keys have the prefix; null: the first one.
alter table key_prefixes add column environment text;

drop index api_keys_unrestricted;
create index api_keys_unrestricted on api_keys (id)
  where disabled_at is null and addresses is null and environment is null and key_hash >= x'02';
