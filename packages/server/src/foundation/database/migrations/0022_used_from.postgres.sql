-- compatible-from: 2
-- Where credentials were used, on PostgreSQL; 0022_used_from.sql explains the columns.
alter table passkeys add column used_from text collate "C";
alter table second_factors add column used_from text collate "C";
alter table second_factors add column app_added_at bigint;
alter table api_keys add column used_from text collate "C";
