-- compatible-from: 2
-- Search for nicknames and hints by index, on PostgreSQL; 0025_folded_nicknames.sql explains the column and the indexes.

alter table api_keys add column folded text collate "C";
create index api_keys_unfolded on api_keys (id) where folded is null;

-- A function of our own instead of the extension pg_trgm: it needs no permission, and it treats letters of all scripts alike in
-- every locale. The index of the nicknames is empty now, and is filled later. New keys wait in a
-- list, which is short, because each search reads it.
create function key_name_trigrams(name text) returns text[] language sql immutable strict parallel safe
  as 'select array(select substr(name, n, 3) from generate_series(1, length(name) - 2) as n)';
create index api_keys_names on api_keys using gin (key_name_trigrams(folded)) with (gin_pending_list_limit = 256);

create function forget_folded_nickname() returns trigger language plpgsql as $$ begin new.folded := null; return new; end $$;
create trigger api_keys_renamed before update of nickname on api_keys for each row when (old.nickname <> new.nickname)
  execute function forget_folded_nickname();

create index api_keys_hint on api_keys ((reverse(right(hint, 4)) collate "C"), id) where hint is not null;

create index api_keys_joined on api_keys
  (account_pk, (nullif(replace(replace(nickname, chr(8204), ''), chr(8205), ''), nickname)))
  where nullif(replace(replace(nickname, chr(8204), ''), chr(8205), ''), nickname) is not null;
create index service_accounts_joined on service_accounts
  (creator_pk, (nullif(replace(replace(name, chr(8204), ''), chr(8205), ''), name)))
  where nullif(replace(replace(name, chr(8204), ''), chr(8205), ''), name) is not null;
