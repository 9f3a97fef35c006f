/** Databases of a running PostgreSQL server: each test creates its own, many simultaneously. */
import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { programMsMax } from '../time-limits.ts';

const pollsMax = 20;

export interface TestDatabase {
  readonly url: string;
  /** Cuts open connections. */
  drop(): Promise<void>;
}

export class PostgresDatabases {
  readonly #adminUrl: string;
  /** Its connections end with the process. A new one for each statement takes most of the processor time of a database. */
  readonly #pool: Pool;

  /** @param adminUrl the URL of any database, with a user that can create databases */
  constructor(adminUrl: string) {
    this.#adminUrl = adminUrl;
    this.#pool = new Pool({
      connectionString: adminUrl,
      max: 4,
      allowExitOnIdle: true,
      connectionTimeoutMillis: programMsMax,
      query_timeout: programMsMax,
    });
    // A server that stops cuts idle connections. Without a listener, that would end the process.
    this.#pool.on('error', () => undefined);
  }

  url(database: string): string {
    const url = new URL(this.#adminUrl);
    url.pathname = `/${database}`;
    return url.href;
  }

  /**
   * Creates a database with a unique name. Nothing is connected to its template, so simultaneous calls do not conflict.
   * Measured with 40 simultaneous calls: 21 ms each with `file_copy`, 29 to 48 ms with the default, `wal_log`.
   */
  async createDatabase(template = 'template0'): Promise<TestDatabase> {
    const name = `test_${randomBytes(8).toString('hex')}`;
    await this.run(`create database ${name} template ${template} strategy file_copy`);
    return { url: this.url(name), drop: () => this.#drop(name) };
  }

  /** If a process of a closed connection has not ended yet, `drop database` waits for 100 ms. Usually it ends in a few. */
  async #drop(name: string): Promise<void> {
    const connected = `select 1 from pg_stat_activity where datname = '${name}'`;
    for (let polls = 0; polls < pollsMax && (await this.all(connected)).length > 0; polls++);
    await this.run(`drop database if exists ${name} with (force)`);
  }

  async run(statement: string): Promise<void> {
    await this.all(statement);
  }

  /** @returns the rows of one statement */
  async all(statement: string): Promise<readonly unknown[]> {
    return (await this.#pool.query<Record<string, unknown>>(statement)).rows;
  }
}
