-- compatible-from: 2
-- What the other system stated when the account was imported, as JSON (accounts/import-record.ts). Null for other accounts. A later
-- import finds out with it what has changed there since, and whether the account has changed here.
alter table accounts add column import_record text;
