-- compatible-from: 2
-- Attempts of a job whose outcome is unknown: the message was sent to its end, and no reply has arrived. Reset when the server
-- has rejected the message.
alter table outbox add column handed_over integer not null default 0;
