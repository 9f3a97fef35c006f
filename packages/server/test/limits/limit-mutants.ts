/** Broken builds that accept more or less than a limit because of one realistic mistake. Edits as in `revocation-check/mutants.ts`. */
import type { Edit } from '../revocation-check/mutant-edits.ts';
import type { LimitFault } from './limit-faults.ts';

export interface LimitMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The faults that reveal the mistake; empty if it shows without faults. */
  readonly faults: readonly LimitFault[];
}

const draws = 'modules/key-limits/stored-draws.ts';

export const limitMutants: readonly LimitMutant[] = [
  {
    name: 'tokens that are spent before the commit of their draw',
    edits: [
      {
        file: draws,
        find: `return runInShare(drawShare, () => db.transaction((tx) => this.#drawTx(tx, request, receivedAt)));`,
        replace: `return new Promise<DrawResult>((resolve, reject) => {
      const draw = async (tx: Transaction): Promise<void> => resolve(await this.#drawTx(tx, request, receivedAt));
      runInShare(drawShare, () => db.transaction(draw)).catch(reject);
    });`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a draw without its condition',
    edits: [{ file: draws, find: `|| taking.available < needed) {`, replace: `) {` }],
    faults: [],
  },
  {
    name: 'a draw that reads limits without a lock',
    edits: [
      {
        file: 'modules/key-limits/store.ts',
        find: ` limit 1 for update) as m`,
        replace: ` limit 1) as m`,
      },
    ],
    faults: [],
  },
  {
    name: 'tokens that are kept over a change of the limits',
    edits: [{ file: 'modules/key-limits/subjects.ts', find: `if (known?.text === text) {`, replace: `if (known) {` }],
    faults: [],
  },
  {
    name: 'the clock of the process instead of the clock of the database',
    edits: [
      {
        file: draws,
        find: `clock.isSystem === true && locked.now !== undefined ? locked.now : `,
        replace: ``,
      },
    ],
    faults: [],
  },
  {
    name: 'a draw of unknown outcome that is treated as not drawn',
    edits: [
      {
        file: draws,
        find: `db.transaction((tx) => this.#drawTx(tx, request, receivedAt)));`,
        replace: `db.transaction((tx) => this.#drawTx(tx, request, receivedAt))).catch((error: any) => {
      if (error.options?.isOutcomeUnknown)
        for (const { cost, limits } of request.questions)
          for (const index of limits)
            db.transaction((tx) => tx.run(giveBack, [cost, request.limits[index]?.meter.subject as any])).catch(() => undefined);
      throw error;
    });`,
      },
      {
        file: draws,
        find: `export class StoredDraws`,
        replace: `import { sql } from '../../foundation/database/sql.ts';
const giveBack = sql('give_back', "update key_meters set used = used - $1 where subject = $2 and kind = 'quota'");
export class StoredDraws`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a rejected verification that spends tokens',
    edits: [
      {
        file: 'modules/verification/results.ts',
        find: `    const result = this.#resultOfKey(key, now, conditions);\n`,
        replace: `    const result = this.#resultOfKey(key, now, conditions);
    if (!result.valid) this.#options.limiter.spend({ key, cost: conditions.cost ?? 1 }, () => undefined, () => undefined);\n`,
      },
    ],
    faults: [],
  },
  {
    name: 'the last cost of a query instead of the largest',
    edits: [
      {
        file: 'modules/verification/forward.ts',
        find: `return Math.max(1, ...costs);`,
        replace: `return costs.at(-1) ?? 1;`,
      },
    ],
    faults: [],
  },
];
