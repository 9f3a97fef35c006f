/** Seals the secrets of webhook endpoints with another key. */
import type { Transaction } from '../../foundation/database/db.ts';
import { resealColumnTx, type Resealed, type Resealing, type SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<SealedRow>(
  'list_sealed_webhook_secrets',
  `select id as key, id, secret as sealed from webhook_endpoints where id > $1 order by id limit $2`,
);
const replace = sql('reseal_webhook_secret', `update webhook_endpoints set secret = $2 where id = $1`);

export const resealWebhookSecretsTx = (tx: Transaction, resealing: Resealing): Promise<Resealed> =>
  resealColumnTx(tx, { list, replace, start: '' }, resealing);
