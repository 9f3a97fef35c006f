/** The creation and the deletion of a key as procedures: each is one message to the writer thread of SQLite. */
import type { Procedure } from '../../foundation/database/db.ts';
import type { Act } from '../../foundation/principal.ts';
import { createKeyTx, type Creation } from './creation-store.ts';
import { deleteKeyTx } from './deletion-store.ts';

export interface Deletion extends Act {
  readonly accountId: string;
  readonly id: number;
}

/** This file, for threads. */
export const script = 'modules/api-keys/procedures';

/** @throws DomainError as {@link createKeyTx} */
export const createKey: Procedure<Creation, void> = { script, name: 'createKey', runTx: createKeyTx };

/** @throws DomainError as {@link deleteKeyTx} */
export const deleteKey: Procedure<Deletion, void> = {
  script,
  name: 'deleteKey',
  runTx: (tx, { accountId, id, ...act }) => deleteKeyTx(tx, act, accountId, id),
};
