/**
 * Connection poolers between this process and PostgreSQL. In transaction mode, a pooler runs the statements of one connection in
 * the sessions of several: settings of a session are lost, and its check for the primary is about another session. A pooler in
 * session mode changes nothing. See docs/decisions/02-databases.md.
 */
import type { Client, ClientBase, ClientConfig } from 'pg';

/** Keyreeve cannot use the database through this pooler. */
export class PoolerError extends Error {}

/** A connection, and the id of the PostgreSQL process that it used first. */
export interface PooledSession {
  readonly client: Pick<ClientBase, 'query'>;
  readonly backend: number;
}

export interface PoolerCheckOptions {
  /** A connection outside the pools of this process. */
  readonly newClient: (more?: ClientConfig) => Client;
  /** @returns the id of its PostgreSQL process @throws Error unless its server can be used */
  readonly prepare: (client: Client) => Promise<number>;
}

export class PoolerCheck {
  readonly #options: PoolerCheckOptions;
  /** Of the pooler that the last check has found, in session mode. */
  name: string | undefined;

  constructor(options: PoolerCheckOptions) {
    this.#options = options;
  }

  /**
   * Call it for each new connection: one through a pooler that no check has found is checked first. So a pooler that is put in
   * place behind a running service is found before a statement uses it.
   * @throws PoolerError; Error if the check cannot be made
   */
  async accept(client: Client, backend: number): Promise<void> {
    if (isPooled(client, backend) && this.name === undefined) await this.check(client, backend);
  }

  /** @throws PoolerError if the pooler does not keep sessions; Error if the check cannot be made */
  async check(client: Client, backend: number): Promise<void> {
    const other = this.#options.newClient();
    other.on('error', () => undefined);
    try {
      await other.connect();
      await assertOwnSessions({ client, backend }, { client: other, backend: await this.#options.prepare(other) });
      this.name = isPooled(client, backend) ? await this.#nameOfPooler() : undefined;
    } catch (error) {
      if (!isOfPooler(error)) throw error;
      this.name = undefined;
      throw new PoolerError(
        `${await this.#nameOfPooler()} between Keyreeve and PostgreSQL does not keep sessions: it is in transaction or statement mode`,
        { cause: error },
      );
    } finally {
      await other.end().catch(() => undefined);
    }
  }

  /** PgBouncer rejects startup parameters that it does not know; PostgreSQL and other poolers accept this one. */
  async #nameOfPooler(): Promise<string> {
    const client = this.#options.newClient({ lock_timeout: 1 });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      if (/unsupported startup parameter/.test(String(error))) return 'PgBouncer';
    } finally {
      await client.end().catch(() => undefined);
    }
    return 'a connection pooler';
  }
}

/** Poolers send ids of their own for the cancellation of statements. PostgreSQL sends the id of the process. */
const isPooled = (client: Client, backend: number): boolean =>
  (client as Client & { readonly processID?: number | null }).processID !== backend;

class SharedSessionError extends Error {}

const isOfPooler = (error: unknown): boolean =>
  // Of PgBouncer in statement mode, which rejects transactions.
  error instanceof SharedSessionError || (error instanceof Error && /statement pooling mode/.test(error.message));

/**
 * Runs transactions of two connections beside each other. A pooler that shares sessions gives them other ones from turn to turn:
 * the session that became free last (the first two rounds) or first (the last two).
 * @throws SharedSessionError
 */
export async function assertOwnSessions(a: PooledSession, b: PooledSession): Promise<void> {
  if (a.backend === b.backend) throw new SharedSessionError('two connections have one session');
  for (const [first, second] of [
    [a, b],
    [a, b],
    [b, a],
    [b, a],
  ] as const) {
    for (const session of [first, second]) {
      await session.client.query('begin');
      await assertSession(session);
    }
    for (const { client } of [first, second]) await client.query('commit');
  }
}

/** In the simple protocol, because poolers without prepared statements must be recognised too. */
async function assertSession({ client, backend }: PooledSession): Promise<void> {
  const { rows } = await client.query<{ backend: number }>('select pg_backend_pid() as backend');
  if (rows[0]?.backend !== backend) throw new SharedSessionError('a connection has changed its session');
}
