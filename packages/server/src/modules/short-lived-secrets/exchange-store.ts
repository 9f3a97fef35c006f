/** The state of a public-key key that decides whether its client gets a short-lived secret. */
import type { Db } from '../../foundation/database/db.ts';
import { databaseTime, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import { isOfFirst } from '../api-keys/state-store.ts';

/** Times are milliseconds since 1970. */
export interface ExchangeState {
  readonly accountDisabledAt: number | null;
  readonly disabledAt: number | null;
  readonly expiresAt: number | null;
  /** CIDR ranges, separated by spaces; null: any IP address. */
  readonly addresses: string | null;
  readonly lookup: number;
  /** JSON. */
  readonly publicKey: string;
  /** Of the previous public key; null if there is none. */
  readonly previousLookup: number | null;
  readonly previousPublicKey: string | null;
  readonly previousEndsAt: number | null;
  /** 1 if the assertion was used; otherwise 0. */
  readonly isUsed: number;
  /** The time of the database; null on SQLite, which has the clock of the process. */
  readonly readAt: number | null;
}

const columns = (dialect: Dialect, assertionId: string): string => `a.disabled_at as "accountDisabledAt",
     k.disabled_at as "disabledAt", k.expires_at as "expiresAt", k.addresses, k.lookup, k.public_key as "publicKey",
     p.lookup as "previousLookup", p.public_key as "previousPublicKey", p.expires_at as "previousEndsAt",
     case when exists (select 1 from short_lived_secrets s where s.key_id = k.id and s.assertion_id = ${assertionId})
       then 1 else 0 end as "isUsed", ${databaseTime[dialect]} as "readAt"`;
const joined = `join accounts a on a.pk = k.account_pk
     left join api_key_secrets p on p.key_id = k.id and p.public_key is not null`;
const selectWhere = (condition: string) =>
  sqlMany<ExchangeState>('select_exchange_state', {
    sqlite: `select ${columns('sqlite', '$2')} from api_keys k ${joined} where k.id = $1 and ${condition}`,
    postgres: `select requested.ordinal, ${columns('postgres', 'requested.assertion_id')}
   from unnest($1::bigint[], $2::text[]) with ordinality as requested (id, assertion_id, ordinal)
     join api_keys k on k.id = requested.id and ${condition} ${joined}`,
  });
const selectAny = selectWhere(`k.public_key is not null and ${mayJudge}`);
const selectOfFirst = selectWhere(`k.public_key is not null and ${mayJudge} and ${isOfFirst}`);

/**
 * The states for exchanges, in the order of the lookups, from one snapshot that is taken after the call.
 * @param hasEnvironments otherwise a key of a further environment is not found
 */
export const findExchangeStates = (
  db: Db,
  lookups: readonly (readonly [keyId: number, assertionId: string])[],
  hasEnvironments: boolean,
): Promise<(ExchangeState | undefined)[]> => db.getMany(hasEnvironments ? selectAny : selectOfFirst, lookups);
