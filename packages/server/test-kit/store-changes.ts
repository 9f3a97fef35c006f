/** Changes of stores that the service makes with others in one transaction, each in a transaction of its own. */
import type { Db, Transaction } from '../src/foundation/database/db.ts';
import { deleteAccountTx, disableAccountTx, setAccountRoleTx } from '../src/modules/accounts/store.ts';
import { deleteKeyTx } from '../src/modules/api-keys/deletion-store.ts';

const inTransaction =
  <Args extends readonly unknown[], T>(changeTx: (tx: Transaction, ...args: Args) => Promise<T>) =>
  (db: Db, ...args: Args): Promise<T> =>
    db.transaction((tx) => changeTx(tx, ...args));

/** @returns whether it existed */
export const deleteAccount = inTransaction(
  async (...values: Parameters<typeof deleteAccountTx>) => (await deleteAccountTx(...values)) !== undefined,
);
export const disableAccount = inTransaction(disableAccountTx);
export const setAccountRole = inTransaction(setAccountRoleTx);
export const deleteKey = inTransaction(deleteKeyTx);
