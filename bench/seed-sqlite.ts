/** Writes seed rows to SQLite. */
import { systemClock } from '../packages/server/src/foundation/clock.ts';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import type { AccountRow, KeyRow, Rows } from './seeded.ts';

export class SqliteRows implements Rows {
  readonly #connection: SqliteConnection;

  constructor(path: string) {
    this.#connection = new SqliteConnection(path, 'write');
    this.#connection.exec('pragma synchronous = off; pragma cache_size = -400000; pragma temp_store = memory; begin');
    // Rows are sorted before insertion: ten million inserts in random order would take hours.
    this.#connection.exec(
      'create temp table draft (lookup integer, key_hash blob, id integer, account_pk integer, nickname text, scopes text)',
    );
  }

  account({ pk, id, email, passwordHash }: AccountRow): void {
    this.#connection
      .prepare(
        `insert into accounts (pk, id, email, email_key, password_hash, role, session_epoch, created_at, updated_at)
         values (?, ?, ?, ?, ?, 'user', 0, 0, 0)`,
      )
      .run(pk, id, email, email, passwordHash);
  }

  key({ lookup, hash, id, accountPk, nickname, scopes }: KeyRow): void {
    this.#connection
      .prepare('insert into draft values (?, ?, ?, ?, ?, ?)')
      .run(lookup, hash, id, accountPk, nickname, scopes);
  }

  finish(): Promise<void> {
    const now = systemClock.now();
    this.#connection.exec(
      `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at, folded)
       select lookup, key_hash, id, account_pk, nickname, scopes, ${now}, ${now}, lower(nickname) from draft order by lookup;
       drop table draft; commit; pragma wal_checkpoint(truncate); analyze`,
    );
    this.#connection.close();
    return Promise.resolve();
  }
}
