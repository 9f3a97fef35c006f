/** The secrets of webhook endpoints, which a rotation of the root key seals again. */
import type { SealedColumn, SealedRow } from '../../foundation/database/reseal.ts';
import { sql } from '../../foundation/database/sql.ts';

const list = sql<SealedRow>(
  'list_sealed_webhook_secrets',
  `select id as key, id, secret as sealed from webhook_endpoints where id > $1 order by id limit $2`,
);
const replace = sql('reseal_webhook_secret', `update webhook_endpoints set secret = $2 where id = $1`);

export const sealedWebhookSecrets: SealedColumn = { list, replace, start: '' };
