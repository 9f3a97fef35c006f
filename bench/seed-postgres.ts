/** Writes seed rows to PostgreSQL. */
import { Client } from 'pg';
import { systemClock } from '../packages/server/src/foundation/clock.ts';
import type { AccountRow, KeyRow, Rows } from './seeded.ts';

const rowsAtOnce = 20_000;

export class PostgresRows implements Rows {
  readonly #client: Client;
  #accounts: AccountRow[] = [];
  #keys: KeyRow[] = [];

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<PostgresRows> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('set synchronous_commit = off');
    return new PostgresRows(client);
  }

  account(row: AccountRow): Promise<void> | void {
    this.#accounts.push(row);
    if (this.#accounts.length >= rowsAtOnce) return this.#writeAccounts();
  }

  key(row: KeyRow): Promise<void> | void {
    this.#keys.push(row);
    if (this.#keys.length >= rowsAtOnce) return this.#writeKeys();
  }

  async finish(): Promise<void> {
    await this.#writeKeys();
    await this.#client.query('vacuum analyze');
    await this.#client.query('checkpoint');
    await this.#client.end();
  }

  async #writeAccounts(): Promise<void> {
    const rows = this.#accounts;
    this.#accounts = [];
    await this.#client.query(
      `insert into accounts (pk, id, email, email_key, password_hash, role, session_epoch, created_at, updated_at)
       select d.pk, d.id, d.email, d.email, d.password_hash, 'user', 0, 0, 0
       from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) as d (pk, id, email, password_hash)`,
      [
        rows.map(({ pk }) => pk),
        rows.map(({ id }) => id),
        rows.map(({ email }) => email),
        rows.map(({ passwordHash }) => passwordHash),
      ],
    );
  }

  async #writeKeys(): Promise<void> {
    if (this.#accounts.length > 0) await this.#writeAccounts();
    const rows = this.#keys;
    this.#keys = [];
    await this.#client.query(
      `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at, folded)
       select d.*, $7::bigint, $7::bigint, lower(d.nickname)
       from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) as d (lookup, key_hash, id, account_pk, nickname, scopes)`,
      [
        rows.map(({ lookup }) => lookup),
        rows.map(({ hash }) => hash),
        rows.map(({ id }) => id),
        rows.map(({ accountPk }) => accountPk),
        rows.map(({ nickname }) => nickname),
        rows.map(({ scopes }) => scopes),
        systemClock.now(),
      ],
    );
  }
}
