/** All service accounts, for operators. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import type { ServiceAccountRow } from './store.ts';

export interface ListedServiceAccount extends ServiceAccountRow {
  readonly managers: number;
  readonly keys: number;
  readonly disabledAt: number | null;
}

export interface ServiceAccountFilter {
  /** The id of an account. Default: any. */
  readonly managerId?: string | undefined;
  readonly externalId?: string | undefined;
}

interface Row extends ListedServiceAccount {
  readonly pk: number;
}

const rowsPerPage = 500;
const columns = `s.account_pk as pk, a.id, s.name, s.external_id as "externalId", c.id as "creatorId",
     (select count(*) from service_account_managers m where m.service_pk = s.account_pk) as managers,
     (select count(*) from api_keys k where k.account_pk = s.account_pk) as keys,
     a.disabled_at as "disabledAt", s.created_at as "createdAt", s.updated_at as "updatedAt"
   from service_accounts s join accounts a on a.pk = s.account_pk left join accounts c on c.pk = s.creator_pk`;
const managedBy = (id: string): string =>
  `s.account_pk in (select service_pk from service_account_managers where manager_pk = (select pk from accounts where id = ${id}))`;
const selectPage = sql<Row>(
  'list_service_accounts',
  `select ${columns}
   where s.account_pk > $1 and ($2 = '' or s.external_id = $2) and ($3 = '' or ${managedBy('$3')})
   order by s.account_pk limit $4`,
);

/** In the order of their creation, in pages of bounded memory. */
export async function* listServiceAccounts(
  reader: Reader,
  { managerId = '', externalId = '' }: ServiceAccountFilter = {},
): AsyncGenerator<ListedServiceAccount> {
  let after = 0;
  for (;;) {
    const page = await reader.all(selectPage, [after, externalId, managerId, rowsPerPage]);
    for (const { pk, ...row } of page) {
      yield row;
      after = pk;
    }
    if (page.length < rowsPerPage) return;
  }
}
