/** The private signing keys, which a rotation of the root key seals again. */
import type { SealedColumn, SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<SealedRow>(
  'list_sealed_signing_keys',
  `select kid as key, kid as id, private_jwk as sealed from signing_keys where kid > $1 order by kid limit $2`,
);
const replace = sql('reseal_signing_key', `update signing_keys set private_jwk = $2 where kid = $1`);

export const sealedPrivateKeys: SealedColumn = { list, replace, start: '' };
