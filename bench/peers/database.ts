/** The database of the peers, opened as in better-auth's documentation. */
import Database from 'better-sqlite3';
import { Pool } from 'pg';

export type PeerDatabase =
  | { readonly kind: 'sqlite'; readonly sqlite: Database.Database }
  | { readonly kind: 'postgres'; readonly pool: Pool };

/** @param url `sqlite:` and a path, or `postgres://…` */
export function openDatabase(url: string): PeerDatabase {
  if (url.startsWith('postgres:')) {
    const pool = new Pool({ connectionString: url });
    // Without a listener, a broken idle connection would end the process.
    pool.on('error', () => undefined);
    return { kind: 'postgres', pool };
  }
  const sqlite = new Database(url.slice('sqlite:'.length));
  sqlite.pragma('journal_mode = WAL');
  // better-sqlite3 sets this itself on a file in WAL mode: a commit is synced with the next checkpoint. Keyreeve's commits
  // wait for the disk.
  sqlite.pragma('synchronous = NORMAL');
  return { kind: 'sqlite', sqlite };
}

export async function closeDatabase(database: PeerDatabase): Promise<void> {
  if (database.kind === 'sqlite') database.sqlite.close();
  else await database.pool.end();
}

/**
 * Copies a row that the peer has written, with other values in some columns. The copies equal rows of the peer, and
 * 100,000 of them take seconds.
 */
export async function multiplyRow(
  database: PeerDatabase,
  { table, id: templateId }: { readonly table: string; readonly id: string },
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  if (database.kind === 'sqlite') {
    const { sqlite } = database;
    const all = sqlite
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map((row) => (row as { name: string }).name);
    const values = all.map((name) => (columns.includes(name) ? '?' : `"${name}"`));
    const insert = sqlite.prepare(
      `insert into "${table}" (${quoted(all)}) select ${values.join(', ')} from "${table}" where id = ?`,
    );
    const order = all.filter((name) => columns.includes(name)).map((name) => columns.indexOf(name));
    sqlite.transaction(() => {
      for (const row of rows) insert.run(...order.map((index) => row[index]), templateId);
    })();
    return;
  }
  const { pool } = database;
  const names = await pool.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1`,
    [table],
  );
  const all = names.rows.map(({ name }) => name);
  const own = columns.map((_, index) => `$${index + 2}::text[]`);
  const values = all.map((name) => (columns.includes(name) ? `d."${name}"` : `t."${name}"`));
  await pool.query(
    `insert into "${table}" (${quoted(all)}) select ${values.join(', ')}
     from "${table}" t, unnest(${own.join(', ')}) as d (${quoted(columns)}) where t.id = $1`,
    [templateId, ...columns.map((_, index) => rows.map((row) => row[index]))],
  );
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Updates the statistics, so that no peer is measured with those of an empty table. */
export async function analyze(database: PeerDatabase): Promise<void> {
  if (database.kind === 'sqlite') database.sqlite.exec('pragma wal_checkpoint(truncate); analyze');
  else await database.pool.query('vacuum analyze');
}
