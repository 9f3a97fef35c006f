/** A database behind a connection that breaks, so that the program can't know how a transaction ended. */
import type { Db } from '../src/foundation/database/db.ts';
import { unavailable } from '../src/foundation/database/unavailable.ts';
import { withTransaction } from './wrapped-db.ts';

/** How transactions end as far as the program can see. */
export class Line {
  /** `cut before`: nothing was committed. `cut after`: it was. The program learns neither. */
  state: 'whole' | 'cut before' | 'cut after' = 'whole';
  /** Transactions whose commit the program learnt of. */
  commits = 0;
}

export function behind(db: Db, line: Line): Db {
  const broken = new Error('the connection broke');
  const across = async <T>(commit: () => Promise<T>): Promise<T> => {
    if (line.state === 'cut before') throw unavailable(broken, true);
    const value = await commit();
    if (line.state === 'cut after') throw unavailable(broken, true);
    return value;
  };
  const transaction: Db['transaction'] = async (work, options) => {
    const value = await across(() => db.transaction(work, options));
    line.commits++;
    return value;
  };
  return { ...withTransaction(db, transaction), confirm: () => across(() => db.confirm()) };
}
