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
  /** Number of confirmations that were acknowledged. */
  confirmations = 0;
}

export function behind(db: Db, line: Line): Db {
  const broken = new Error('the connection broke');
  const assertWhole = (): void => {
    if (line.state !== 'whole') throw unavailable(broken, true);
  };
  const transaction: Db['transaction'] = async (work, options) => {
    const value = await db.transaction(async (tx) => {
      const made = await work(tx);
      if (line.state === 'cut before') assertWhole();
      return made;
    }, options);
    assertWhole();
    line.commits++;
    return value;
  };
  const confirm: Db['confirm'] = async (workClass) => {
    await db.confirm(workClass);
    assertWhole();
    line.confirmations++;
  };
  return { ...withTransaction(db, transaction), confirm };
}
