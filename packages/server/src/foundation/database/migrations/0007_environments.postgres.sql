-- compatible-from: 2
-- Environments of API keys on PostgreSQL; 0007_environments.sql explains the columns.

alter table api_keys add column environment text collate "C";
alter table installation add column first_environment text collate "C";
alter table key_prefixes add column environment text collate "C";

drop index api_keys_unrestricted;
create index api_keys_unrestricted on api_keys (id)
  where disabled_at is null and addresses is null and environment is null and key_hash >= '\x02';
