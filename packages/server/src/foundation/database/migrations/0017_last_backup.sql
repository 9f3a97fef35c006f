-- compatible-from: 2
-- When `keyreeve backup` last succeeded. Additive. An earlier program does not record it.

-- In milliseconds; null: never. A backup has the time of the one before it.
alter table installation add column last_backup_at integer;
