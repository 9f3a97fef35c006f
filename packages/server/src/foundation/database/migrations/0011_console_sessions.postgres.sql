-- compatible-from: 2
-- Sessions of the console on PostgreSQL; 0011_console_sessions.sql explains the columns.

alter table sessions add column kind text collate "C" not null default 'tokens';
alter table sessions add column authenticated_at bigint;
