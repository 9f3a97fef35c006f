-- compatible-from: 2
-- Attempts of a job whose outcome is unknown, on PostgreSQL; 0023_mail.sql explains the column.
alter table outbox add column handed_over bigint not null default 0;
