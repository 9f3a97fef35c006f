/** Changes the key of the audit log, as a part of a rotation of the root key. */
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { chainNumbers } from './chain.ts';
import { listCuts } from './cut-store.ts';
import { isGenuine, sealOf } from './cuts.ts';
import { isGenuineChange, sealOfChange } from './key-changes.ts';
import { listKeyChanges, putKeyChangeTx, raiseKeyVersionTx, replaceCutSealTx } from './key-change-store.ts';
import { listHeads } from './store.ts';

/**
 * Call it before the transaction records an event: the transaction's own key is that of `next`. Cuts and earlier changes get
 * new seals. An edited one keeps its wrong seal, so that a verification still finds it.
 */
export async function changeAuditKeyTx(
  tx: Transaction,
  current: InstallationKeys,
  next: InstallationKeys,
  now: number,
): Promise<void> {
  await raiseKeyVersionTx(tx, chainNumbers, next.version);
  for (const change of await listKeyChanges(tx))
    if (isGenuineChange(current.auditCut, change))
      await putKeyChangeTx(tx, { ...change, seal: sealOfChange(next.auditCut, change) });
  for (const { chain, position, mac } of await listHeads(tx)) {
    const change = { chain, version: next.version, position, mac, changedAt: now };
    await putKeyChangeTx(tx, { ...change, seal: sealOfChange(next.auditCut, change) });
  }
  for (const cut of await listCuts(tx))
    if (isGenuine(current.auditCut, cut)) await replaceCutSealTx(tx, cut.chain, sealOf(next.auditCut, cut));
}
