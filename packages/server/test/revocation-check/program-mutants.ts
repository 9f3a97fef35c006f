/** Broken builds with mistakes in the sign-in of programs: in polls, denials, and the removal of a program with its keys. */
import { delayedCommit, earlyResponse, type Edit, type Mutant } from './mutant-edits.ts';

const keys = 'modules/approvals/device-keys.ts';
const store = 'modules/approvals/store.ts';
const programs = 'modules/programs/programs.ts';

/** Between the read of a request and the transaction that creates its key. */
const slowPoll: Edit = {
  file: 'modules/approvals/device-requests.ts',
  find: `      const issued = await keys.create(row, now);`,
  replace: `      await new Promise((resolve) => setTimeout(resolve, 50));\n      const issued = await keys.create(row, now);`,
};

const keyDeletion = `runNarrowing<number, readonly DeletedKey[]>(this.#options, {`;
const removal = `    if (exists || !deletesKeys || (await countProgramKeys(db, id)) === 0) await this.#removeProgram(act, id);\n`;

export const programMutants: readonly Mutant[] = [
  {
    name: 'a poll that does not read the request again under its lock',
    edits: [
      {
        file: keys,
        find: `async #createTx(tx: Transaction, { id, programId, accountId }: RequestRow, now: number): Promise<IssuedKey> {`,
        replace: `async #createTx(tx: Transaction, before: RequestRow, now: number): Promise<IssuedKey> {
    const { id, programId, accountId } = before;`,
      },
      {
        file: keys,
        find: `heldRight(await store.lockRequestTx(tx, id), shared, now)`,
        replace: `heldRight(before, shared, now)`,
      },
      {
        file: store,
        find: `issued_at = $3 where id = $1 and state = 'approved'\``,
        replace: `issued_at = $3 where id = $1\``,
      },
    ],
    faults: [],
  },
  {
    name: 'a poll that does not compare under its lock whether the request was denied',
    edits: [
      slowPoll,
      { file: keys, find: `if (found.state !== 'approved' || !approved)`, replace: `if (!approved)` },
      {
        file: store,
        find: `issued_at = $3 where id = $1 and state = 'approved'\``,
        replace: `issued_at = $3 where id = $1 and state <> 'used'\``,
      },
    ],
    faults: [],
  },
  {
    name: 'a removal of a program that deletes its keys first',
    edits: [
      { file: programs, find: removal, replace: `` },
      {
        file: programs,
        find: `    return { deletedKeys, remainingKeys: await countProgramKeys(db, id) };`,
        replace: `    if (exists || deletedKeys === 0) await this.#removeProgram(act, id);
    return { deletedKeys, remainingKeys: await countProgramKeys(db, id) };`,
      },
    ],
    faults: [],
  },
  {
    name: 'a removal of the keys of a program whose response precedes a group commit of 100 ms (embedded)',
    edits: [
      ...earlyResponse(programs).slice(1),
      {
        file: programs,
        find: keyDeletion,
        replace: keyDeletion.replace('this.#options', '{ ...this.#options, isEarly: true } as any'),
      },
      delayedCommit,
    ],
    faults: [],
    database: 'embedded',
  },
];
