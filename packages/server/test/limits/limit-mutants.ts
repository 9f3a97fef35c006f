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
const store = 'modules/key-limits/store.ts';

export const limitMutants: readonly LimitMutant[] = [
  {
    name: 'tokens that are spent before the commit of their draw',
    edits: [
      {
        file: store,
        find: `): Promise<Draw[]> =>
  db.transaction(async (tx) => {`,
        replace: `): Promise<Draw[]> => new Promise((resolve, reject) => void
  db.transaction(async (tx) => {`,
      },
      {
        file: store,
        find: `    return draws;
  });`,
        replace: `    resolve(draws);
  }).catch(reject));`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a draw without its condition',
    edits: [
      {
        file: store,
        find: '       else ${sqlMin}(room, want + case when room * 10 >= capacity then forecast else 0 end) end as granted_now',
        replace: '       else want + case when room * 10 >= capacity then forecast else 0 end end as granted_now',
      },
    ],
    faults: [],
  },
  {
    name: 'tokens that are kept over a change of the limits',
    edits: [{ file: limiter, find: `if (known?.text === text) return`, replace: `if (known) return` }],
    faults: [],
  },
  {
    name: 'the clock of the process instead of the clock of the database',
    edits: [{ file: limiter, find: `isShared ? undefined : this.#clock.now()`, replace: `this.#clock.now()` }],
    faults: [],
  },
  {
    name: 'a draw of unknown outcome that is treated as not drawn',
    edits: [
      {
        file: limiter,
        find: `    } catch (error) {
      for (const question of questions)`,
        replace: `    } catch (error) {
      if (isOutcomeUnknown(error))
        for (const { want, subject } of wanted.values())
          this.#db.transaction((tx) => tx.run(giveBack, [want, subject])).catch(() => undefined);
      for (const question of questions)`,
      },
      {
        file: limiter,
        find: `export class KeyLimiter {`,
        replace: `import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { sql } from '../../foundation/database/sql.ts';
const giveBack = sql('give_back', "update key_meters set used = used - $1 where subject = $2 and kind = 'quota'");
export class KeyLimiter {`,
      },
    ],
    faults: ['cutBefore', 'cutBefore', 'cutBefore'],
  },
  {
    name: 'a rejected verification that is charged',
    edits: [
      {
        file: 'modules/verification/verify.ts',
        find: `    const result = this.#resultOfKey(key, now, conditions);\n`,
        replace: `    const result = this.#resultOfKey(key, now, conditions);
    if (!result.valid) this.#options.limiter.spend(key, conditions.cost ?? 1, () => undefined, () => undefined);\n`,
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
