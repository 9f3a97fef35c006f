/** Seals the payloads of outbox jobs with another key. */
import type { Transaction } from '../../foundation/database/db.ts';
import { resealColumnTx, type Resealed, type Resealing, type SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<SealedRow>(
  'list_sealed_outbox',
  `select id as key, id, payload as sealed from outbox where id > $1 order by id limit $2`,
);
const replace = sql('reseal_outbox', `update outbox set payload = $2 where id = $1`);

export const resealJobsTx = (tx: Transaction, resealing: Resealing): Promise<Resealed> =>
  resealColumnTx(tx, { list, replace, start: '' }, resealing);
