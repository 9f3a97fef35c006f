/** The secrets of authenticator apps, which a rotation of the root key seals again. */
import type { SealedColumn, SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const listSecrets = sql<SealedRow>(
  'list_sealed_second_factors',
  `select f.account_pk as key, a.id, f.secret as sealed from second_factors f join accounts a on a.pk = f.account_pk
   where f.account_pk > $1 and length(f.secret) > 0 order by f.account_pk limit $2`,
);
const replaceSecret = sql('reseal_second_factor', `update second_factors set secret = $2 where account_pk = $1`);
const listPending = sql<SealedRow>(
  'list_sealed_pending_second_factors',
  `select f.account_pk as key, a.id, f.pending_secret as sealed
   from second_factors f join accounts a on a.pk = f.account_pk
   where f.account_pk > $1 and length(f.pending_secret) > 0 order by f.account_pk limit $2`,
);
const replacePending = sql(
  'reseal_pending_second_factor',
  `update second_factors set pending_secret = $2 where account_pk = $1`,
);

export const sealedSecrets: SealedColumn = { list: listSecrets, replace: replaceSecret, start: 0 };
export const sealedPendingSecrets: SealedColumn = { list: listPending, replace: replacePending, start: 0 };
