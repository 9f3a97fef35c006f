/** The keys that programs made: which program made a key, and their deletion with the program. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface DeletedKey {
  readonly id: number;
  readonly accountId: string;
  readonly nickname: string;
}

/** A program that was removed and still has keys. */
export interface RemovedProgramRow {
  readonly id: string;
  readonly keys: number;
}

/**
 * SQL: the id and the name of the program of a key `k`. The name is null if the program has been removed, also if another one has its id
 * since.
 */
export const programColumns = `k.program as "programId",
  (select p.name from programs p where p.id = k.program and p.created_at <= k.created_at) as "programName"`;

const setProgram = sql('set_program_of_api_key', 'update api_keys set program = $2 where id = $1');
const countOf = sql<{ count: number }>(
  'count_keys_of_program',
  'select count(*) as count from api_keys where program = $1',
);
const listRemoved = sql<RemovedProgramRow>(
  'list_removed_programs',
  `select k.program as id, count(*) as keys from api_keys k
   where k.program is not null and not exists (select 1 from programs p where p.id = k.program)
   group by k.program order by k.program limit $1`,
);
const remove = sql<DeletedKey>(
  'delete_keys_of_program',
  `delete from api_keys where id in (select id from api_keys where program = $1 order by id limit $2)
   returning id, nickname, (select a.id from accounts a where a.pk = api_keys.account_pk) as "accountId"`,
);
const selectNicknames = sql<{ nickname: string }>(
  'select_nicknames_of_account',
  'select nickname from api_keys where account_pk = (select pk from accounts where id = $1)',
);

/** Of a key that the same transaction has created. */
export const setProgramTx = (tx: Transaction, id: number, program: string): void =>
  tx.enqueue(setProgram, [id, program]);

export const countProgramKeys = async (reader: Pick<Reader, 'get'>, program: string): Promise<number> =>
  (await reader.get(countOf, [program]))?.count ?? 0;

/** By id. */
export const listRemovedPrograms = (reader: Pick<Reader, 'all'>, max: number): Promise<RemovedProgramRow[]> =>
  reader.all(listRemoved, [max]);

/** The caller records the events and the deletions. */
export const deleteProgramKeysTx = (tx: Transaction, program: string, keysMax: number): Promise<DeletedKey[]> =>
  tx.all(remove, [program, keysMax]);

/** Of all keys of an account. The caller has locked it. */
export const listNicknamesTx = async (tx: Transaction, accountId: string): Promise<string[]> =>
  (await tx.all(selectNicknames, [accountId])).map(({ nickname }) => nickname);
