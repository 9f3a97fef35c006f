/** The sealed columns of all tables. docs/asvs.md lists them too, and a test compares both. */
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { ErasableTable } from '../../foundation/database/erase.ts';
import { resealColumnTx, sumOf, type Resealed, type SealedColumn } from '../../foundation/database/reseal.ts';
import { sealedPayloads } from '../outbox/reseal-store.ts';
import { sealedPendingSecrets, sealedSecrets } from '../second-factors/reseal-store.ts';
import { sealedPrivateKeys } from '../signing-keys/reseal-store.ts';
import { sealedWebhookSecrets } from '../webhooks/reseal-store.ts';

interface SealedTable {
  readonly table: ErasableTable;
  /** By name. */
  readonly columns: Readonly<Record<string, SealedColumn>>;
  readonly sealOf: (keys: InstallationKeys) => Sealer;
}

export const sealedTables: readonly SealedTable[] = [
  {
    table: 'second_factors',
    columns: { secret: sealedSecrets, pending_secret: sealedPendingSecrets },
    sealOf: ({ secondFactorSeal }) => secondFactorSeal,
  },
  { table: 'webhook_endpoints', columns: { secret: sealedWebhookSecrets }, sealOf: ({ webhookSeal }) => webhookSeal },
  // All keys from before the rotation are revoked. Without this, a stolen root key would open them in a later copy.
  {
    table: 'signing_keys',
    columns: { private_jwk: sealedPrivateKeys },
    sealOf: ({ signingKeySeal }) => signingKeySeal,
  },
  { table: 'outbox', columns: { payload: sealedPayloads }, sealOf: ({ outboxSeal }) => outboxSeal },
];

export async function resealAllTx(
  tx: Transaction,
  current: InstallationKeys,
  next: InstallationKeys,
): Promise<Resealed> {
  const parts: Resealed[] = [];
  for (const { columns, sealOf } of sealedTables)
    for (const column of Object.values(columns))
      parts.push(await resealColumnTx(tx, column, { from: sealOf(current), to: sealOf(next) }));
  return sumOf(parts);
}
