-- compatible-from: 2
-- When `keyreeve backup` last succeeded, on PostgreSQL; 0017_last_backup.sql explains the column.

alter table installation add column last_backup_at bigint;
