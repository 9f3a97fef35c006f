-- compatible-from: 2
-- The sum of the clock's jumps that count as passed time, in milliseconds. The start of a process and the confirmation of the clock
-- set it to 0.
alter table audit_retention add column jumped_ms integer not null default 0;
