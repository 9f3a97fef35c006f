/** The sealed columns of all tables. docs/asvs.md lists them too, and a test compares both. */
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { ErasableTable } from '../../foundation/database/erase.ts';
import { sumOf, type Resealed, type Resealing } from '../../foundation/database/reseal.ts';
import { resealJobsTx } from '../outbox/reseal-store.ts';
import { resealSecondFactorsTx } from '../second-factors/reseal-store.ts';
import { resealSigningKeysTx } from '../signing-keys/reseal-store.ts';
import { resealWebhookSecretsTx } from '../webhooks/reseal-store.ts';

interface SealedTable {
  readonly table: ErasableTable;
  readonly columns: readonly string[];
  readonly sealOf: (keys: InstallationKeys) => Sealer;
  readonly resealTx: (tx: Transaction, resealing: Resealing) => Promise<Resealed>;
}

export const sealedTables: readonly SealedTable[] = [
  {
    table: 'second_factors',
    columns: ['secret', 'pending_secret'],
    sealOf: ({ secondFactorSeal }) => secondFactorSeal,
    resealTx: resealSecondFactorsTx,
  },
  {
    table: 'webhook_endpoints',
    columns: ['secret'],
    sealOf: ({ webhookSeal }) => webhookSeal,
    resealTx: resealWebhookSecretsTx,
  },
  // All keys from before the rotation are revoked. Without this, a stolen root key would open them in a later copy.
  {
    table: 'signing_keys',
    columns: ['private_jwk'],
    sealOf: ({ signingKeySeal }) => signingKeySeal,
    resealTx: resealSigningKeysTx,
  },
  { table: 'outbox', columns: ['payload'], sealOf: ({ outboxSeal }) => outboxSeal, resealTx: resealJobsTx },
];

export async function resealAllTx(
  tx: Transaction,
  current: InstallationKeys,
  next: InstallationKeys,
): Promise<Resealed> {
  const parts: Resealed[] = [];
  for (const { sealOf, resealTx } of sealedTables)
    parts.push(await resealTx(tx, { from: sealOf(current), to: sealOf(next) }));
  return sumOf(parts);
}
