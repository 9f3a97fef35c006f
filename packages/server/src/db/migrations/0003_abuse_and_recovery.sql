-- compatible-from: 2
-- Abuse and recovery. Additive: the program of schema 2 works on the result, and ignores what it doesn't know.

-- How often a request to enable the account was acknowledged, also when it was enabled already. A disabling of unknown
-- outcome is finished only while this is what it was when the disabling was requested.
alter table accounts add column enabled_count integer not null default 0;
