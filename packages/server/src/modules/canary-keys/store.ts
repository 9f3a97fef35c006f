/** Reads the keys and accounts of the credentials for the revocation check, whose rows belong to other modules. */
import type { Reader } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface CanaryKeyRow {
  readonly id: number;
  readonly nickname: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

// The credential itself has a scope. A key that an operator adds to the account has other IP ranges.
const canaryKeys = `select k.id, k.nickname, k.expires_at as "expiresAt", k.created_at as "createdAt",
     k.updated_at as "updatedAt"
   from api_keys k join accounts a on a.pk = k.account_pk
   where a.id = $1 and k.addresses = $2 and k.scopes = '' and k.expires_at is not null`;
const listKeys = sql<CanaryKeyRow>('list_canary_keys', `${canaryKeys} order by k.created_at, k.id`);
const selectKey = sql<CanaryKeyRow>('select_canary_key', `${canaryKeys} and k.id = $3`);
// An account with a creator or a manager is not the account of a credential, whatever its external id is.
const listAccounts = sql<{ id: string }>(
  'list_old_canary_accounts',
  `select a.id from service_accounts s join accounts a on a.pk = s.account_pk
   where s.external_id = $1 and s.creator_pk is null and s.created_at <= $2
     and not exists (select 1 from service_account_managers m where m.service_pk = s.account_pk)
   order by a.id limit $3`,
);

/** @param range of canary keys, as stored */
export const listCanaryKeys = (
  reader: Pick<Reader, 'all'>,
  accountId: string,
  range: string,
): Promise<CanaryKeyRow[]> => reader.all(listKeys, [accountId, range]);

export const findCanaryKey = (
  reader: Pick<Reader, 'get'>,
  accountId: string,
  range: string,
  id: number,
): Promise<CanaryKeyRow | undefined> => reader.get(selectKey, [accountId, range, id]);

/** @returns at most `max` ids of accounts of credentials that were issued by then */
export const listOldCanaryAccounts = async (
  reader: Pick<Reader, 'all'>,
  externalId: string,
  issuedBy: number,
  max: number,
): Promise<string[]> => (await reader.all(listAccounts, [externalId, issuedBy, max])).map(({ id }) => id);
