/** Inserts many keys into an embedded database directly, because requests would be slow. */
import { DatabaseSync } from 'node:sqlite';

/** For the only account. The keys have no known secrets. */
export function insertKeys(path: string, count: number): void {
  using database = new DatabaseSync(path);
  database
    .prepare(
      `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, created_at, updated_at, folded)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?)
       select n * 1000003, cast(x'01' || randomblob(32) as blob), n, (select max(pk) from accounts), 'key ' || n, '', null, 1, 1, 'key ' || n from numbers`,
    )
    .run(count);
}
