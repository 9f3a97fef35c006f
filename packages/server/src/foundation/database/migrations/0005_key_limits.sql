-- compatible-from: 2
-- Limits of API keys and accounts. Additive. An earlier program ignores limits.

-- JSON in canonical form; null: no limits.
alter table api_keys add column limits text;
alter table accounts add column limits text;

-- What instances have drawn of each limit. A row without a foreign key, so that a deletion does not wait for a draw; rows of
-- deleted keys and accounts are deleted later.
create table key_meters (
  -- The id of a key or an account.
  subject text not null,
  -- rate, quota
  kind text not null,
  -- Of a rate: the theoretical arrival time of the generic cell rate algorithm, in microseconds.
  tat integer not null default 0,
  -- Of a quota: what is drawn in the period.
  used integer not null default 0,
  -- Of a quota: a day (2026-11-22), a month (2026-11) or `ever`, in UTC.
  period text not null default '',
  primary key (subject, kind)
) strict, without rowid;

-- Used-up quotas that have their audit event. Not a column of key_meters: the transaction of the event would lock its row,
-- and draws would wait for it.
create table quota_notices (
  -- The id of a key or an account.
  subject text not null,
  -- As in key_meters.
  period text not null,
  -- The limit of the quota.
  quantity integer not null,
  primary key (subject, period, quantity)
) strict, without rowid;
