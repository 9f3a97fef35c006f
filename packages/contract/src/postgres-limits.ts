/** Limits of connections to PostgreSQL. Part of the table in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const postgresLimits = {
  postgresReadersMax: limit(2, 'Connections per process for verifications.'),
  postgresWritersMax: limit(8, 'Connections per process for everything except verifications and draws of tokens.'),
  postgresReservedWritersMax: limit(
    2,
    'Of these connections, those for removals of rights only; two more are for all other writes only.',
  ),
  postgresConnectMsMax: limit(2_000, 'Wait for a connection.', 'unavailable'),
  postgresStatementMsMax: limit(2_000, 'Time of a statement, lock waits included.', 'unavailable'),
  // Longer than the bound of a statement, so that its connection stays usable.
  postgresAnswerMsMax: limit(
    3_000,
    'Wait for PostgreSQL. The connection is closed, and a commit’s outcome is unknown.',
    'unavailable',
  ),
  // Several times what a switchover takes.
  postgresHandoverMsMax: limit(
    8_000,
    'Wait for the next primary, after PostgreSQL has announced its end (`admin_shutdown`).',
    'unavailable',
  ),
  postgresKeepAliveSeconds: limit(30, 'Idle time after which a connection sends TCP keepalive messages.'),
  postgresPoolerCheckSeconds: limit(
    60,
    'Interval of the check that a pooler keeps sessions. If not: 503 for everything.',
  ),
  // Longer than an orchestrator takes to replace a lost standby: 10 s for the loop of Patroni by default, and 2 s.
  postgresProofSeconds: limit(
    15,
    'With `KEYREEVE_DATABASE_FAILOVER=unfenced`: how long a proof that a server is the newest primary permits reads from it.',
    'unavailable',
  ),
  // Longer than a proof lasts on a machine whose clock is 3 % slower.
  postgresSettleSeconds: limit(
    16,
    'With this setting: from the first connection to a promoted server until it can remove rights.',
    'unavailable',
  ),
  // Less than postgresStatementMsMax: reads wait meanwhile. More than deadlock_timeout (1 s): PostgreSQL ends an autovacuum then.
  postgresMigrationLockMs: limit(1_200, 'Wait of a migration for tables in use. Longer: it is undone, and repeats.'),
  postgresMigrationPauseMs: limit(3_000, 'Pause before a migration repeats.'),
  // Half of the time that the Helm chart allows for a start. The other half is for the migration itself.
  postgresMigrationMsMax: limit(300_000, 'Time in which it repeats. Longer: exit status 1.'),
} as const satisfies Limits;
