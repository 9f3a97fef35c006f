/** New databases of one kind for the measured programs. */
import { join } from 'node:path';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { repository } from './keyreeve.ts';
import { run } from './processes.ts';
import type { Seeded, SeedOptions } from './seeded.ts';

export const kinds = ['sqlite', 'postgres'] as const;
export type Kind = (typeof kinds)[number];

export const titleOf = (kind: Kind): string => (kind === 'postgres' ? 'PostgreSQL' : 'SQLite');

export class Databases implements AsyncDisposable {
  readonly #server: PostgresServer | undefined;
  readonly #path: string;

  private constructor(path: string, server: PostgresServer | undefined) {
    this.#path = path;
    this.#server = server;
  }

  static async start(kind: Kind, folder: string): Promise<Databases> {
    const server = kind === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined;
    return new Databases(join(folder, kind), server);
  }

  /** @returns the URL of a new database */
  async newUrl(name: string): Promise<string> {
    if (!this.#server) return `sqlite:${this.#path}-${name}.db`;
    return `${(await this.#server.createDatabase()).url}?sslmode=disable`;
  }

  /** A new database with so many keys. @param root the copy of the repository whose schema it has */
  async seed(
    name: string,
    keys: number,
    { root = repository, ...more }: Pick<SeedOptions, 'hasDeletableKeys'> & { readonly root?: string } = {},
  ): Promise<Seeded> {
    const poolPath = `${this.#path}-${name}.keys`;
    return seedAt({ databaseUrl: await this.newUrl(name), poolPath, keys, ...more }, root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

/** @param root the copy of the repository whose schema the database gets */
export function seedAt(options: SeedOptions, root = repository): Promise<Seeded> {
  console.error(`seeding ${options.keys} keys`);
  return run([process.execPath, join(root, 'bench/seed.ts'), JSON.stringify(options)]);
}
