/** The payloads of outbox jobs, which a rotation of the root key seals again. */
import type { SealedColumn, SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<SealedRow>(
  'list_sealed_outbox',
  `select id as key, id, payload as sealed from outbox where id > $1 order by id limit $2`,
);
const replace = sql('reseal_outbox', `update outbox set payload = $2 where id = $1`);

export const sealedPayloads: SealedColumn = { list, replace, start: '' };
