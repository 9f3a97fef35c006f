-- compatible-from: 2
-- The log of webhook deliveries on PostgreSQL; 0013_webhook_deliveries.sql explains the columns.

create table webhook_deliveries (
  id text collate "C" primary key,
  endpoint_id text collate "C" not null,
  type text collate "C" not null,
  event_at bigint not null,
  chain bigint,
  position bigint,
  started_at bigint not null,
  tried_at bigint not null,
  delivered integer not null,
  attempt_count bigint not null,
  attempts text collate "C" not null
);
create index webhook_deliveries_order on webhook_deliveries (endpoint_id, started_at, id);
create index webhook_deliveries_started on webhook_deliveries (started_at);
