/** The indexes that find keys by parts of nicknames and by the ends of hints. */
import type { Db } from '../../foundation/database/db.ts';
import { trigramLength, trigramsOf } from '../../foundation/fold.ts';
import { sql } from '../../foundation/database/sql.ts';
import { contains } from './list-store.ts';

const nextInQueue = 'key_id in (select key_id from api_key_names_queue order by key_id limit $1)';
// PostgreSQL has no queue: its index has a list of new rows of its own.
const removeHeld = sql('remove_held_key_names', {
  sqlite: `insert into api_key_names (api_key_names, rowid, folded)
    select 'delete', key_id, held from api_key_names_queue where held is not null and ${nextInQueue}`,
  postgres: 'select $1::bigint',
});
const insertNames = sql('insert_key_names', {
  sqlite: `insert into api_key_names (rowid, folded) select id, folded from api_keys
    where id in (select key_id from api_key_names_queue order by key_id limit $1)`,
  postgres: 'select $1::bigint',
});
const shortenQueue = sql('shorten_key_names_queue', {
  sqlite: `delete from api_key_names_queue where ${nextInQueue}`,
  postgres: 'select $1::bigint',
});
const isQueued = sql<{ id: number }>('has_queued_key_names', {
  sqlite: 'select key_id as id from api_key_names_queue limit 1',
  postgres: 'select 0::bigint as id where false',
});

/** Rows per commit, so that other commits do not wait long. */
const rowsPerCommitMax = 500;

/**
 * Adds the names of queued keys to the index of SQLite, or removes them. Until then, a search reads the key itself. Several
 * processes may do so at the same time.
 * @returns whether there may be more
 */
export async function indexNames(db: Db): Promise<boolean> {
  if (!(await db.get(isQueued))) return false;
  const indexed = await db.transaction(async (tx) => {
    tx.enqueue(removeHeld, [rowsPerCommitMax]);
    tx.enqueue(insertNames, [rowsPerCommitMax]);
    return tx.run(shortenQueue, [rowsPerCommitMax]);
  });
  return indexed === rowsPerCommitMax;
}

/** Ids of keys, in ascending order. */
export interface KeyIds {
  readonly ids: readonly number[];
  /** Whether there are no further keys. */
  readonly isLast: boolean;
}

/** More do not make a search faster. */
const trigramsMax = 32;
/** PostgreSQL returns the keys that an index finds in no order, so it must find all of them at once. */
const namedMax = 1_000;

// The index of SQLite is in the order of ids, so it reads what it returns. Queued keys are not in it.
const selectNamed = sql<{ id: number }>('select_named_api_keys', {
  sqlite: `select id from (select rowid as id from api_key_names where api_key_names match $1 and rowid > $2 order by rowid limit $3)
    union select id from (select key_id as id from api_key_names_queue where key_id > $2 order by key_id limit $3) order by id limit $3`,
  postgres: `select id from api_keys where key_name_trigrams(folded) @> array(select json_array_elements_text($1::json))
      and ${contains.postgres('folded', '$4')} and id > $2 limit $3`,
});

/**
 * @param part part of the nickname, folded, of at least {@link trigramLength} characters
 * @param after only keys with a higher id
 * @returns keys that may have the part in their nickname, and no others have; undefined on PostgreSQL if there are too many
 */
export async function findNamed(
  db: Pick<Db, 'all' | 'dialect'>,
  part: string,
  after: number,
  count: number,
): Promise<KeyIds | undefined> {
  const trigrams = trigramsOf(part).slice(0, trigramsMax);
  if (db.dialect === 'sqlite') {
    const words = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`);
    return toKeyIds(await db.all(selectNamed, [words.join(' AND '), after, count]), count);
  }
  const rows = await db.all(selectNamed, [JSON.stringify(trigrams), after, namedMax + 1, part]);
  if (rows.length > namedMax) return undefined;
  return { ids: rows.map(({ id }) => id).toSorted((a, b) => a - b), isLast: true };
}

/** Whether {@link findNamed} finds the text. */
export const hasTrigram = (part: string): boolean => [...part].length >= trigramLength;

/** Of a hint, as its index has them: the last character first. */
const indexedHintCharacters = 4;
/** One character matches too many keys. */
const hintCharactersMin = 2;
const lastOfHint = {
  sqlite: 'substr(hint, -1, 1) || substr(hint, -2, 1) || substr(hint, -3, 1) || substr(hint, -4, 1)',
  postgres: '(reverse(right(hint, 4)) collate "C")',
} as const;
// Few keys have a hint. `+ 0` keeps PostgreSQL from reading all keys in the order of their ids instead.
const orderOfHinted = { sqlite: 'id', postgres: 'id + 0' } as const;
const hintedIn = (condition: string): Record<keyof typeof lastOfHint, string> => {
  const text = (dialect: keyof typeof lastOfHint): string =>
    `select id from api_keys where hint is not null and ${condition.replaceAll('{end}', lastOfHint[dialect])} and id > $2
     order by ${orderOfHinted[dialect]} limit $3`;
  return { sqlite: text('sqlite'), postgres: text('postgres') };
};
const selectHinted = sql<{ id: number }>('select_hinted_api_keys', hintedIn('{end} = $1'));
const selectHintedByPart = sql<{ id: number }>('select_hinted_api_keys_by_part', hintedIn('{end} > $1 and {end} < $4'));

/**
 * @param end the last characters of the hint
 * @param after only keys with a higher id
 * @returns keys whose hint may have the end, and no others have; undefined if the end is too short
 */
export async function findHinted(
  db: Pick<Db, 'all'>,
  end: string,
  after: number,
  count: number,
): Promise<KeyIds | undefined> {
  const reversed = [...end].toReversed().slice(0, indexedHintCharacters);
  if (reversed.length < hintCharactersMin) return undefined;
  const first = reversed.join('');
  const rows =
    reversed.length === indexedHintCharacters
      ? await db.all(selectHinted, [first, after, count])
      : // All longer texts that begin with it come before its last one.
        await db.all(selectHintedByPart, [first, after, count, `${first}\u{10FFFF}`]);
  return toKeyIds(rows, count);
}

const selectAfter = sql<{ id: number }>(
  'select_api_keys_after',
  'select id from api_keys where id > $1 order by id limit $2',
);
const selectOfAccount = sql<{ id: number }>(
  'select_api_keys_of_account_after',
  'select id from api_keys where account_pk = (select pk from accounts where accounts.id = $3) and id > $1 order by id limit $2',
);

/** @param accountId only its keys; empty: all keys */
export const findAfter = async (
  db: Pick<Db, 'all'>,
  accountId: string,
  after: number,
  count: number,
): Promise<KeyIds> =>
  toKeyIds(
    accountId === ''
      ? await db.all(selectAfter, [after, count])
      : await db.all(selectOfAccount, [after, count, accountId]),
    count,
  );

const toKeyIds = (rows: readonly { readonly id: number }[], count: number): KeyIds => ({
  ids: rows.map(({ id }) => id),
  isLast: rows.length < count,
});
