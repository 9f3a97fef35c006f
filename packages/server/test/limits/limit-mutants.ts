/** Broken builds that accept more or less than a limit because of one realistic mistake. Edits as in `revocation-check/mutants.ts`. */
import type { Edit } from '../revocation-check/mutant-edits.ts';
import type { LimitFault } from './limit-faults.ts';

export interface LimitMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The faults that reveal the mistake; empty if it shows without faults. */
  readonly faults: readonly LimitFault[];
}

const limiter = 'modules/key-limits/key-limits.ts';

export const limitMutants: readonly LimitMutant[] = [
  {
    name: 'tokens that are spent before the commit of their draw',
    edits: [
      {
        file: limiter,
        find: `decisions = await runInShare(drawShare, () => db.transaction((tx) => this.#decideTx(tx, together, hasSpace)));`,
        replace: `decisions = await new Promise<Decisions>((resolve, reject) => {
        const decide = async (tx: Transaction): Promise<void> => resolve(await this.#decideTx(tx, together, hasSpace));
        runInShare(drawShare, () => db.transaction(decide)).catch(reject);
      });`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a draw without its condition',
    edits: [{ file: limiter, find: `|| taking.available < needed) {`, replace: `) {` }],
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
        file: limiter,
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
        file: limiter,
        find: `    this.draws[isOutcomeUnknown(error) ? 'unknown' : 'failed']++;\n`,
        replace: `    this.draws[isOutcomeUnknown(error) ? 'unknown' : 'failed']++;
    if (isOutcomeUnknown(error))
      for (const { cost, pools } of questions)
        for (const { meter } of pools)
          this.#options.db.transaction((tx) => tx.run(giveBack, [cost, meter.subject])).catch(() => undefined);\n`,
      },
      {
        file: limiter,
        find: `export class KeyLimiter {`,
        replace: `import { sql } from '../../foundation/database/sql.ts';
const giveBack = sql('give_back', "update key_meters set used = used - $1 where subject = $2 and kind = 'quota'");
export class KeyLimiter {`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a rejected verification that spends tokens',
    edits: [
      {
        file: 'modules/verification/verify.ts',
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
