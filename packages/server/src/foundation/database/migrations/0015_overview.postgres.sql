-- compatible-from: 2
-- What the overview of administrators shows, on PostgreSQL; 0015_overview.sql explains the columns.

create table verification_minutes (
  minute bigint not null,
  instance text collate "C" not null,
  counts text collate "C" not null,
  primary key (minute, instance)
);

create table instances (
  id text collate "C" primary key,
  version text collate "C" not null,
  started_at bigint not null,
  seen_at bigint not null
);
