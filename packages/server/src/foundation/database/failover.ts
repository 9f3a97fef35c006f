/** With `KEYREEVE_DATABASE_FAILOVER=unfenced`: whether PostgreSQL is configured so that only its newest primary is read. */
import { limits } from '@keyreeve/contract/limits';
import type { Db } from './db.ts';
import { sql } from './sql.ts';

interface ServerState {
  /** For example 150018. */
  readonly version: number;
  readonly names: string;
  /** Milliseconds. 0: none. */
  readonly senderTimeoutMs: number;
  /** Application names that several standbys have, separated by commas. */
  readonly repeated: string | null;
}

const selectState = sql<ServerState>(
  'select_failover_state',
  `select current_setting('server_version_num')::int as version, current_setting('synchronous_standby_names') as names,
     (select setting::int from pg_settings where name = 'wal_sender_timeout') as "senderTimeoutMs",
     (select string_agg(name, ', ') from (select application_name as name from pg_stat_replication
        where application_name is not null group by 1 having count(*) > 1) as repeated) as repeated`,
);

/** From these on, PostgreSQL waits for standbys just after its start too. Later major versions do from the first release. */
const waitsFrom: Readonly<Record<number, number>> = { 15: 13, 16: 9, 17: 5 };
const perMajor = 10_000;

export interface FailoverState {
  /** The setting `synchronous_standby_names`. */
  readonly names: string;
  /** Sentences without a full stop. */
  readonly warnings: readonly string[];
}

/** @returns undefined unless an earlier primary may still answer @throws DomainError `unavailable` */
export async function failoverStateOf(db: Db): Promise<FailoverState | undefined> {
  if (!db.primaryProof) return undefined;
  const state = await db.get(selectState);
  if (state === undefined) throw new Error('a select without a table returned no row');
  const { version, names, senderTimeoutMs, repeated } = state;
  const [major, minor] = [Math.floor(version / perMajor), version % perMajor];
  const isLong = senderTimeoutMs === 0 || senderTimeoutMs > limits.postgresProofSeconds * 1000;
  return {
    names,
    warnings: [
      ...(minor < (waitsFrom[major] ?? 0)
        ? [
            `PostgreSQL ${major}.${minor} may acknowledge a commit without its standby just after a start; upgrade it to ${major}.${waitsFrom[major] ?? 0}`,
          ]
        : []),
      ...(repeated === null
        ? []
        : [`several standbys have the application_name ${repeated}: one could confirm writes for another`]),
      ...(isLong
        ? [
            `wal_sender_timeout is ${senderTimeoutMs / 1000} s: for so long, the orchestrator may not replace a standby that is cut off, and verifications fail. Set it to 5 s`,
          ]
        : []),
    ],
  };
}
