-- compatible-from: 2
-- The log of webhook deliveries. Additive. An earlier program delivers without it; its deliveries are not in the log.

-- A delivery of an event to an endpoint, from its first attempt on. No foreign key: a deletion of an endpoint does not wait for
-- its deliveries, which housekeeping deletes.
create table webhook_deliveries (
  -- The id of the message, which an event has for this endpoint.
  id text primary key,
  endpoint_id text not null,
  -- The type of the event, for example account.created, and its time.
  type text not null,
  event_at integer not null,
  -- The place of the audit event; null for a job of an earlier program.
  chain integer,
  position integer,
  -- The time of the first and of the last attempt.
  started_at integer not null,
  tried_at integer not null,
  -- 1 if the last attempt succeeded.
  delivered integer not null,
  -- All of them, and the last ones as a JSON array of [at, status, ms, error].
  attempt_count integer not null,
  attempts text not null
) strict;
create index webhook_deliveries_order on webhook_deliveries (endpoint_id, started_at, id);
create index webhook_deliveries_started on webhook_deliveries (started_at);
