/** SQL of the changes of the audit log's key. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { StoredKeyChange } from './key-changes.ts';

const selectChanges = sql<StoredKeyChange>(
  'list_audit_key_changes',
  `select chain, version, position, mac, changed_at as "changedAt", seal from audit_key_changes order by chain, version`,
);
const putChange = sql(
  'put_audit_key_change',
  `insert into audit_key_changes (chain, version, position, mac, changed_at, seal) values ($1, $2, $3, $4, $5, $6)
   on conflict (chain, version) do update set seal = excluded.seal`,
);
const insertChain = sql(
  'insert_audit_chain',
  'insert into audit_chains (chain, events) values ($1, 0) on conflict (chain) do nothing',
);
const setVersion = sql(
  'set_audit_key_version',
  'update audit_chains set root_key_version = $1 where root_key_version < $1',
);
const replaceSeal = sql('replace_audit_cut_seal', 'update audit_cuts set seal = $2 where chain = $1');

/** In the order of chains, then of versions. */
export const listKeyChanges = (reader: Reader): Promise<StoredKeyChange[]> => reader.all(selectChanges);

/** Of an existing record, only the seal changes. */
export const putKeyChangeTx = async (tx: Transaction, change: StoredKeyChange): Promise<void> => {
  const { chain, version, position, mac, changedAt, seal } = change;
  await tx.run(putChange, [chain, version, position, mac, changedAt, seal]);
};

/**
 * Locks all chains. From the commit on, a transaction with an earlier version of the key appends nothing.
 * @param chains the numbers of all chains, also of those without events
 */
export async function raiseKeyVersionTx(tx: Transaction, chains: readonly number[], version: number): Promise<void> {
  for (const chain of chains) await tx.run(insertChain, [chain]);
  await tx.run(setVersion, [version]);
}

export const replaceCutSealTx = async (tx: Transaction, chain: number, seal: Uint8Array): Promise<void> =>
  void (await tx.run(replaceSeal, [chain, seal]));
