/** A table for tests of the writer, and a change of it in two steps. */
import type { Db } from '../db.ts';
import { sql } from '../sql.ts';

export const createTable = sql('test_create', 'create table things (id integer primary key)');
export const insert = sql('test_insert', 'insert into things (id) values ($1)');
const count = sql<{ count: number }>('test_count', 'select count(*) as count from things');
const list = sql<{ id: number }>('test_list', 'select id from things order by id');

export const idsIn = async (db: Db): Promise<number[]> => (await db.all(list)).map(({ id }) => id);

/**
 * Adds a row by statements that are issued together, and another one, with an id that is higher by 100, with the commit.
 * @returns the number of rows before the second one
 */
export const add = (db: Db, id: number): Promise<number> =>
  db.transaction(async (tx) => {
    const [, found] = await Promise.all([tx.run(insert, [id]), tx.get(count)]);
    tx.enqueue(insert, [id + 100]);
    return found?.count ?? 0;
  });
