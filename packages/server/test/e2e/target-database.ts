/** A PostgreSQL database that a command fills, observed on another connection. */
import { Client } from 'pg';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';

export interface TargetDatabase extends AsyncDisposable {
  readonly url: string;
  /** Whether a transaction has started to fill the table of keys. */
  readonly isFilling: () => Promise<boolean>;
}

export async function newTargetDatabase(): Promise<TargetDatabase> {
  const database = await (await sharedPostgres()).createDatabase();
  const { url } = database;
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    url,
    isFilling: async () => {
      const { rowCount } = await client.query(
        `select 1 from pg_locks l join pg_class c on c.oid = l.relation
         where c.relname = 'api_keys' and l.mode = 'RowExclusiveLock' and l.granted`,
      );
      return rowCount !== null && rowCount > 0;
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await database.drop();
    },
  };
}
