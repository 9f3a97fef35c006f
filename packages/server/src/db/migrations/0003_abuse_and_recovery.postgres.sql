-- compatible-from: 2
-- Abuse and recovery on PostgreSQL; what the columns mean stands in 0003_abuse_and_recovery.sql.

alter table accounts add column enabled_count bigint not null default 0;
