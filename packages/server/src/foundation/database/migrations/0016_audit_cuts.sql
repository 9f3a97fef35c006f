-- compatible-from: 2
-- The retention of audit events. Additive: an earlier program appends to a chain that has a cut, because a cut keeps the
-- last event of each chain. Its `audit verify` reports the removed events as missing, so set KEYREEVE_AUDIT_DAYS only
-- after all instances run a program that has this migration.

-- The end of the removed part of a chain of the audit log. A chain without a row has no removed events.
create table audit_cuts (
  chain integer primary key,
  -- The position, the MAC and the id of the last removed event.
  position integer not null,
  mac blob not null,
  event_id integer not null,
  -- All removed events are from before this time, in milliseconds.
  events_before integer not null,
  -- The age that events had to reach, in days.
  days integer not null,
  cut_at integer not null,
  -- The MAC over the other columns.
  seal blob not null
) strict;

-- One row. Cuts are decided by it, so that one process makes them, and a clock that jumps forward removes nothing.
create table audit_retention (
  id integer primary key check (id = 1),
  -- A time that has certainly passed, in milliseconds.
  passed_at integer not null,
  -- When the last run began; null before the first.
  run_at integer,
  -- Why the last run did not remove all events that are old enough; null if it did.
  blocked text
) strict;

-- Ids of deleted keys whose events were removed. An imported key derives its id from its hash: it must not be imported
-- again. Filled only after an import.
create table deleted_keys (
  id integer primary key
) strict;

-- A cut keeps the events of deliveries that can be replayed.
create index webhook_deliveries_event on webhook_deliveries (chain, position);
