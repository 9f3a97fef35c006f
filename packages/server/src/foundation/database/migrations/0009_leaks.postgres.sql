-- compatible-from: 2
-- Leaked secrets of API keys on PostgreSQL; 0009_leaks.sql explains the column.

alter table api_keys add column leaked_at bigint;
