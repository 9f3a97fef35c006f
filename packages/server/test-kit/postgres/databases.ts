/** Databases of a running PostgreSQL server: each test creates its own, many simultaneously. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { programMsMax } from '../time-limits.ts';

export interface TestDatabase {
  readonly url: string;
  /** Cuts open connections. */
  drop(): Promise<void>;
}

export class PostgresDatabases {
  readonly #adminUrl: string;

  /** @param adminUrl the URL of any database, with a user that can create databases */
  constructor(adminUrl: string) {
    this.#adminUrl = adminUrl;
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
    return { url: this.url(name), drop: () => this.run(`drop database if exists ${name} with (force)`) };
  }

  /** Runs one statement on a new connection. */
  async run(statement: string): Promise<void> {
    await this.all(statement);
  }

  /** Runs one statement on a new connection. @returns the rows */
  async all(statement: string): Promise<readonly unknown[]> {
    const client = new Client({
      connectionString: this.#adminUrl,
      connectionTimeoutMillis: programMsMax,
      query_timeout: programMsMax,
    });
    // A cut connection rejects its queries. Without a listener it would also end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
