-- compatible-from: 2
-- What the overview of administrators shows. Additive. An earlier program does not write it.

-- What a process counted in one minute. A process that counted nothing has no row.
create table verification_minutes (
  -- The start of the minute, in milliseconds.
  minute integer not null,
  -- In instances.
  instance text not null,
  -- JSON: verifications and sign-ins by result, and histograms of the durations of verifications and database reads.
  counts text not null,
  primary key (minute, instance)
) strict;

-- A running process. A process deletes its row when it stops.
create table instances (
  id text primary key,
  version text not null,
  started_at integer not null,
  seen_at integer not null
) strict;
