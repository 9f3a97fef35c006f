/** The options of a benchmark, and new databases for the measured programs. */
import { join } from 'node:path';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { seed, type Seeded } from './seed.ts';

export interface BenchOptions {
  readonly keys: number;
  readonly rounds: number;
  /** Of each round. */
  readonly seconds: number;
  /** `sqlite` or `postgres`. */
  readonly databases: readonly string[];
  readonly folder: string;
}

/** Of one kind. */
export class Databases implements AsyncDisposable {
  readonly #server: PostgresServer | undefined;
  readonly #path: string;

  private constructor(path: string, server: PostgresServer | undefined) {
    this.#path = path;
    this.#server = server;
  }

  static async start(kind: string, folder: string): Promise<Databases> {
    const server = kind === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined;
    return new Databases(join(folder, kind), server);
  }

  /** @returns the URL of a new database */
  async newUrl(name: string): Promise<string> {
    if (!this.#server) return `sqlite:${this.#path}-${name}.db`;
    return `${(await this.#server.createDatabase()).url}?sslmode=disable`;
  }

  /** A new database with so many keys. */
  async seed(name: string, keys: number): Promise<Seeded> {
    console.error(`seeding ${keys} keys`);
    return seed(await this.newUrl(name), `${this.#path}-${name}.keys`, keys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}
