/** Rows of programs. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface ProgramRow {
  /** The `client_id`. */
  readonly id: string;
  readonly name: string;
  /** The scopes that its keys may have, separated by spaces. */
  readonly scopes: string;
  /** The longest lifetime of its keys. 0 after a replay has repeated a narrowing: the program can get no approval. */
  readonly lifetimeSeconds: number;
  readonly createdAt: number;
  /** Each change has a later time than the previous one. */
  readonly updatedAt: number;
}

export interface CountedProgramRow extends ProgramRow {
  readonly keyCount: number;
}

const columns = `p.id, p.name, p.scopes, p.lifetime_seconds as "lifetimeSeconds", p.created_at as "createdAt",
  p.updated_at as "updatedAt"`;
const counted = `${columns}, (select count(*) from api_keys k where k.program = p.id) as "keyCount"`;
const list = sql<CountedProgramRow>('list_programs', `select ${counted} from programs p order by p.id`);
const selectCounted = sql<CountedProgramRow>(
  'select_counted_program',
  `select ${counted} from programs p where p.id = $1`,
);
const selectText = `select ${columns} from programs p where p.id = $1`;
const select = sql<ProgramRow>('select_program', selectText);
const lock = sql<ProgramRow>('lock_program', { sqlite: selectText, postgres: `${selectText} for update` });
const share = sql<ProgramRow>('share_program', { sqlite: selectText, postgres: `${selectText} for share` });
const count = sql<{ count: number }>('count_programs', 'select count(*) as count from programs');
const selectNames = sql<{ id: string; name: string }>('select_names_of_programs', 'select id, name from programs');
const insert = sql(
  'insert_program',
  `insert into programs (id, name, scopes, lifetime_seconds, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $5) on conflict do nothing`,
);
const update = sql(
  'update_program',
  `update programs set name = $2, scopes = $3, lifetime_seconds = $4, updated_at = $5 where id = $1`,
);
const remove = sql('remove_program', 'delete from programs where id = $1');
// Repetitions of changes of the deletion journal, which has no settings of programs.
const voidListed = sql(
  'replay_narrowed_programs',
  onList(`update programs set scopes = '', lifetime_seconds = 0,
     updated_at = (select max(given.at) from {dated} where given.id = programs.id)
   where id in (select given.id from {dated})`),
);
const removeListed = sql(
  'replay_removed_programs',
  onList('delete from programs where id in (select given.id from {dated})'),
);

/** By id. */
export const listPrograms = (reader: Pick<Reader, 'all'>): Promise<CountedProgramRow[]> => reader.all(list);

export const findCountedProgram = (reader: Pick<Reader, 'get'>, id: string): Promise<CountedProgramRow | undefined> =>
  reader.get(selectCounted, [id]);

export const findProgram = (reader: Pick<Reader, 'get'>, id: string): Promise<ProgramRow | undefined> =>
  reader.get(select, [id]);

/** On PostgreSQL, no other change of the program commits before the transaction ends, and no key is made for it. */
export const lockProgramTx = (tx: Transaction, id: string): Promise<ProgramRow | undefined> => tx.get(lock, [id]);

/** On PostgreSQL, the program does not change before the transaction ends. */
export const shareProgramTx = (tx: Transaction, id: string): Promise<ProgramRow | undefined> => tx.get(share, [id]);

export const countProgramsTx = async (tx: Transaction): Promise<number> => (await tx.get(count))?.count ?? 0;

/** Of all programs. */
export const listNamesTx = (tx: Transaction): Promise<{ id: string; name: string }[]> => tx.all(selectNames);

/** @returns false if a program with the id exists */
export async function insertProgramTx(tx: Transaction, row: ProgramRow): Promise<boolean> {
  const { id, name, scopes, lifetimeSeconds, createdAt } = row;
  return (await tx.run(insert, [id, name, scopes, lifetimeSeconds, createdAt])) > 0;
}

/** Stores what a change can change. */
export async function updateProgramTx(tx: Transaction, row: ProgramRow): Promise<void> {
  const { id, name, scopes, lifetimeSeconds, updatedAt } = row;
  await tx.run(update, [id, name, scopes, lifetimeSeconds, updatedAt]);
}

/** Also deletes its requests for approval. @returns false if there is none */
export const removeProgramTx = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.run(remove, [id])) > 0;

/** For a replay of the deletion journal, which records the events: the programs can get no approval until an administrator states their settings. */
export const voidProgramsTx = async (tx: Transaction, changes: readonly DatedId[]): Promise<void> =>
  void (await tx.run(voidListed, [JSON.stringify(changes)]));

/** For a replay of the deletion journal, which records the events. */
export const removeProgramsTx = async (tx: Transaction, changes: readonly DatedId[]): Promise<void> =>
  void (await tx.run(removeListed, [JSON.stringify(changes)]));
