/**
 * Proves each second that a server is the newest primary: a small write, which the standbys in `synchronous_standby_names` must
 * have received. A standby stops to receive when it is promoted, so none of them was promoted before the write was sent.
 *
 * The acknowledgement of the commit alone proves nothing: it also arrives after the setting was emptied, and PostgreSQL before
 * 15.13, 16.9 and 17.5 does not wait just after its start. So the position of each standby in the log is read.
 */
import type { PoolClient } from 'pg';
import { monotonicMs } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { DatabaseWaits } from './database-waits.ts';
import type { AuditKey } from './db.ts';
import { Batch, BatchItem } from './postgres-batch.ts';
import { serverOf } from './postgres-connection.ts';
import type { ParameterValue } from './postgres-parameters.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import type { PrimaryProof, ServerIdentity } from './primary-proof.ts';
import { sql, type Statement } from './sql.ts';
import { lackOfProof } from './standby-names.ts';

const everyMs = 1_000;

export interface ProofWritesOptions {
  readonly proof: PrimaryProof;
  readonly auditKey: AuditKey;
  readonly waits: DatabaseWaits;
  /** A connection to a primary, which only these writes use. */
  readonly connect: () => Promise<PoolClient>;
  /** Called when the commit of a connection, which is closed, may still wait for a standby. */
  readonly onWaiting: (client: PoolClient) => void;
}

export class ProofWrites {
  readonly #options: ProofWritesOptions;
  #inProgress: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Connections that hold {@link lockSettled}. */
  readonly #locked = new WeakSet<PoolClient>();

  constructor(options: ProofWritesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.attempt(), everyMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#inProgress;
  }

  /** One attempt. A failure is recorded as the problem of the proof. */
  attempt(): Promise<void> {
    this.#inProgress ??= this.#attempt()
      .catch((error: unknown) => {
        this.#options.proof.problem = reasonOf(error);
      })
      .finally(() => (this.#inProgress = undefined));
    return this.#inProgress;
  }

  async #attempt(): Promise<void> {
    const { proof, connect } = this.#options;
    const client = await connect();
    let isReusable = false;
    try {
      const server = serverOf(client);
      if (server === undefined) throw new Error('the PostgreSQL server has no identity');
      // Before the write is sent: its acknowledgement can arrive late.
      const atMs = monotonicMs();
      const lack = await this.#lackOfProof(client);
      if (lack === undefined) proof.prove(server, atMs);
      await this.#shareSettled(client, server);
      isReusable = true;
      if (lack !== undefined) proof.problem = lack;
    } finally {
      client.release(!isReusable);
    }
  }

  /** @returns undefined if each standby has received a write that was sent after this call */
  async #lackOfProof(client: PoolClient): Promise<string | undefined> {
    const position = await this.#write(client);
    const [evidence] = (await this.#run(client, selectEvidence, [position])) as Evidence[];
    if (!evidence) throw new Error('a select without a table returned no row');
    if (!evidence.mayRead)
      return 'the database role cannot read the state of the standbys; run `grant pg_read_all_stats` to it';
    return lackOfProof(evidence.names, evidence.confirmed);
  }

  /** @returns the position of the write in the log @throws unless its commit is acknowledged without a warning */
  async #write(client: PoolClient): Promise<string> {
    const { auditKey, waits, onWaiting } = this.#options;
    const tx = new PostgresTransaction(client, { auditKey, waits, isLong: false });
    try {
      const written = tx.get(emitProof);
      await tx.commit();
      return (await written)?.position ?? '';
    } catch (error) {
      await tx.rollBack();
      if (!tx.mayCommitWait) throw error;
      onWaiting(client);
      throw new Error('no standby has confirmed a write in time', { cause: error });
    }
  }

  /**
   * A process that starts cannot know how long the timeline exists. A lock tells it that another process has waited. Locks
   * are not replicated, so a promoted server does not have those of the earlier primary.
   */
  async #shareSettled(client: PoolClient, server: ServerIdentity): Promise<void> {
    const { proof } = this.#options;
    if (!proof.isSettled(server)) {
      const [locks] = (await this.#run(client, selectSettled)) as { readonly isSettled: boolean }[];
      if (locks?.isSettled) proof.settle(server);
    }
    if (this.#locked.has(client) || !proof.isSettled(server)) return;
    await this.#run(client, lockSettled);
    this.#locked.add(client);
  }

  async #run(
    client: PoolClient,
    statement: Statement<unknown>,
    values: readonly ParameterValue[] = [],
  ): Promise<readonly unknown[]> {
    const item = new BatchItem(statement, values, true);
    await new Batch([item], this.#options.waits.answerMsMax).run(client);
    return item.rows ?? [];
  }
}

function reasonOf(error: unknown): string {
  const reason = error instanceof DomainError ? error.cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}

const emitProof = sql<{ readonly position: string }>(
  'emit_proof',
  `select pg_logical_emit_message(true, 'keyreeve', '')::text as position`,
);

interface Evidence {
  readonly mayRead: boolean;
  readonly names: string;
  readonly confirmed: readonly string[];
}

const selectEvidence = sql<Evidence>(
  'select_evidence',
  `select pg_has_role('pg_read_all_stats', 'usage') as "mayRead", current_setting('synchronous_standby_names') as names,
     array(select application_name from pg_stat_replication where flush_lsn >= $1::pg_lsn) as confirmed`,
);

/** The number is that of no other lock of Keyreeve (`migrate.ts`). */
const settledLock = 7_310_865;
const selectSettled = sql<{ readonly isSettled: boolean }>(
  'select_settled',
  `select exists (select from pg_locks where locktype = 'advisory' and classid = ${settledLock} and objid = 1
     and objsubid = 2 and granted and pid <> pg_backend_pid()
     and database = (select oid from pg_database where datname = current_database())) as "isSettled"`,
);
const lockSettled = sql<object>('lock_settled', `select pg_try_advisory_lock_shared(${settledLock}, 1)`);
