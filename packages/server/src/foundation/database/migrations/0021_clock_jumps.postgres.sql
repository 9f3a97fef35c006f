-- compatible-from: 2
-- The sum of the clock's jumps, on PostgreSQL; 0021_clock_jumps.sql explains the column.
alter table audit_retention add column jumped_ms bigint not null default 0;
