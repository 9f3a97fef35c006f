/** The state of a key without a secret that decides whether a client of it gets a short-lived secret. */
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
  /** Of the previous public key or trust; null if there is none. */
  readonly previousLookup: number | null;
  readonly previousEndsAt: number | null;
  /** The time of the database; null on SQLite, which has the clock of the process. */
  readonly readAt: number | null;
  /** The last restore of a backup; null if there was none. */
  readonly restoredAt: number | null;
}

export interface AssertionState extends ExchangeState {
  /** JSON. */
  readonly publicKey: string;
  readonly previousPublicKey: string | null;
  /** 1 if the assertion was used; otherwise 0. */
  readonly isUsed: number;
}

export interface TrustState extends ExchangeState {
  /** The stored form. */
  readonly trust: string;
  readonly issuerId: number;
  readonly previousTrust: string | null;
  readonly previousIssuerId: number | null;
}

const columns = (dialect: Dialect): string => `a.disabled_at as "accountDisabledAt", k.disabled_at as "disabledAt",
     k.expires_at as "expiresAt", k.addresses, k.lookup, p.lookup as "previousLookup", p.expires_at as "previousEndsAt",
     ${databaseTime[dialect]} as "readAt", (select restored_at from installation where id = 1) as "restoredAt"`;
const joined = (column: string): string => `join accounts a on a.pk = k.account_pk
     left join api_key_secrets p on p.key_id = k.id and p.${column} is not null`;

const assertionColumns = (dialect: Dialect, id: string): string => `${columns(dialect)}, k.public_key as "publicKey",
     p.public_key as "previousPublicKey",
     case when exists (select 1 from short_lived_secrets s where s.key_id = k.id and s.assertion_id = ${id})
       then 1 else 0 end as "isUsed"`;
const ofAssertion = (condition: string) =>
  sqlMany<AssertionState>('select_exchange_state', {
    sqlite: `select ${assertionColumns('sqlite', '$2')} from api_keys k ${joined('public_key')}
   where k.id = $1 and ${condition}`,
    postgres: `select requested.ordinal, ${assertionColumns('postgres', 'requested.assertion_id')}
   from unnest($1::bigint[], $2::text[]) with ordinality as requested (id, assertion_id, ordinal)
     join api_keys k on k.id = requested.id and ${condition} ${joined('public_key')}`,
  });
const hasPublicKey = `k.public_key is not null and ${mayJudge}`;
const selectAnyOfAssertion = ofAssertion(hasPublicKey);
const selectFirstOfAssertion = ofAssertion(`${hasPublicKey} and ${isOfFirst}`);

const trustColumns = (dialect: Dialect): string => `${columns(dialect)}, k.trust, k.issuer_id as "issuerId",
     p.trust as "previousTrust", p.issuer_id as "previousIssuerId"`;
const ofTrust = (condition: string) =>
  sqlMany<TrustState>('select_trust_state', {
    sqlite: `select ${trustColumns('sqlite')} from api_keys k ${joined('trust')} where k.id = $1 and ${condition}`,
    postgres: `select requested.ordinal, ${trustColumns('postgres')}
   from unnest($1::bigint[]) with ordinality as requested (id, ordinal)
     join api_keys k on k.id = requested.id and ${condition} ${joined('trust')}`,
  });
const hasTrust = `k.trust is not null and ${mayJudge}`;
const selectAnyOfTrust = ofTrust(hasTrust);
const selectFirstOfTrust = ofTrust(`${hasTrust} and ${isOfFirst}`);

/**
 * The states of keys with a public key, in the order of the lookups, from one snapshot that is taken after the call.
 * @param hasEnvironments otherwise a key of a further environment is not found
 */
export const findAssertionStates = (
  db: Db,
  lookups: readonly (readonly [keyId: number, assertionId: string])[],
  hasEnvironments: boolean,
): Promise<(AssertionState | undefined)[]> =>
  db.getMany(hasEnvironments ? selectAnyOfAssertion : selectFirstOfAssertion, lookups);

/** The same of keys with a trust. */
export const findTrustStates = (
  db: Db,
  keyIds: readonly number[],
  hasEnvironments: boolean,
): Promise<(TrustState | undefined)[]> =>
  db.getMany(
    hasEnvironments ? selectAnyOfTrust : selectFirstOfTrust,
    keyIds.map((id) => [id]),
  );
