/** A database behind a connection that breaks, so that the outcome of a transaction is unknown to the service. */
import type { Db } from '../src/foundation/database/db.ts';
import { unavailable } from '../src/foundation/database/unavailable.ts';
import { withTransaction } from './wrapped-db.ts';

/** How transactions end for the service. */
export class Line {
  /** The connection breaks before the commit (`cut before`) or after it (`cut after`); the service sees the same failure. */
  state: 'whole' | 'cut before' | 'cut after' = 'whole';
  /** Number of transactions whose commit was acknowledged. */
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
  return { ...withTransaction(db, transaction), confirm: (workClass) => across(() => db.confirm(workClass)) };
}
