-- compatible-from: 2
-- Leaked secrets of API keys on PostgreSQL; 0009_leaks.sql explains the column and the table.

alter table api_keys add column leaked_at bigint;

create table leaked_secrets (
  lookup bigint primary key,
  leaked_at bigint not null
);
