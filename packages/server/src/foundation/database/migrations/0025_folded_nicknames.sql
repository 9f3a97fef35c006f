-- compatible-from: 2
-- Search for nicknames and hints by index. Additive: an earlier program ignores the column, and triggers keep it consistent.

-- The nickname as a search compares it (foundation/fold.ts); null until a program has filled it. SQL cannot compute it: SQLite
-- changes the case of ASCII letters only.
alter table api_keys add column folded text;
create index api_keys_unfolded on api_keys (id) where folded is null;

-- Sequences of three characters of `folded`, by the id of the key. The table has no copy of the names, and no positions.
create virtual table api_key_names using fts5(folded, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1');
-- The keys whose names the table above does not contain yet, or still contains. A creation or deletion that changed that table would take a
-- fifth longer; the service changes it later, for many keys at once.
create table api_key_names_queue (
  key_id integer primary key,
  -- The name that the table above contains; null: none.
  held text
) strict;
-- If the key is in the queue already, as after a restore, its row has the name that the table contains.
create trigger api_keys_named after insert on api_keys when new.folded is not null begin
  insert into api_key_names_queue (key_id) values (new.id) on conflict do nothing;
  end;
create trigger api_keys_unnamed after delete on api_keys when old.folded is not null begin
  insert into api_key_names_queue (key_id, held) values (old.id, old.folded) on conflict do nothing;
  end;
create trigger api_keys_refolded after update of folded on api_keys when old.folded is not new.folded begin
  insert into api_key_names_queue (key_id, held) values (old.id, old.folded) on conflict do nothing;
  end;
-- An earlier program does not fold the new nickname.
create trigger api_keys_renamed after update of nickname on api_keys when old.nickname <> new.nickname begin
  update api_keys set folded = null where id = new.id;
  end;

-- The last four characters of the hint, the last one first.
create index api_keys_hint on api_keys
  (substr(hint, -1, 1) || substr(hint, -2, 1) || substr(hint, -3, 1) || substr(hint, -4, 1), id) where hint is not null;

-- Names that contain a joiner (U+200C, U+200D), without it: uniqueness ignores joiners.
create index api_keys_joined on api_keys
  (account_pk, nullif(replace(replace(nickname, char(8204), ''), char(8205), ''), nickname))
  where nullif(replace(replace(nickname, char(8204), ''), char(8205), ''), nickname) is not null;
create index service_accounts_joined on service_accounts
  (creator_pk, nullif(replace(replace(name, char(8204), ''), char(8205), ''), name))
  where nullif(replace(replace(name, char(8204), ''), char(8205), ''), name) is not null;
