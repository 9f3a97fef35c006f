/** A database whose transactions a test observes or breaks. All other methods are unchanged. */
import type { Db } from '../src/foundation/database/db.ts';

export const withTransaction = (db: Db, transaction: Db['transaction']): Db => ({
  dialect: db.dialect,
  times: db.times,
  sharedReads: db.sharedReads,
  writes: db.writes,
  all: (...args) => db.all(...args),
  get: (...args) => db.get(...args),
  getMany: (...args) => db.getMany(...args),
  confirm: (workClass) => db.confirm(workClass),
  usage: db.usage,
  usageFile: db.usageFile,
  snapshot: (...args) => db.snapshot(...args),
  transaction,
  perform: ({ runTx }, input) => transaction((tx) => runTx(tx, input)),
  isWriterFree: false,
  close: () => db.close(),
});
