-- compatible-from: 2
-- Limits of API keys and accounts on PostgreSQL; 0005_key_limits.sql explains the columns.

alter table api_keys add column limits text;
alter table accounts add column limits text;

-- Each draw updates its row, so pages keep room for new versions of their rows.
create table key_meters (
  subject text not null,
  kind text not null,
  tat bigint not null default 0,
  used bigint not null default 0,
  period text not null default '',
  primary key (subject, kind)
) with (fillfactor = 50);

create table quota_notices (
  subject text not null,
  period text not null,
  quantity bigint not null,
  primary key (subject, period, quantity)
);
