/** The state of keys that verification reads. */
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../foundation/database/db.ts';
import { databaseTime, sqlMany, type Dialect } from '../../foundation/database/sql.ts';
import { withheldColumn } from '../scope-catalogue/withheld.ts';
import { endOfPrevious } from './expiry.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import type { KeyRow } from './store.ts';

/** The state of a key and its account, for verification. */
export interface KeyState extends Pick<
  KeyRow,
  'id' | 'nickname' | 'scopes' | 'needsRole' | 'ownerRole' | 'expiresAt' | 'createdAt' | 'updatedAt' | 'disabledAt'
> {
  readonly accountId: string;
  readonly accountDisabledAt: number | null;
  /** CIDR ranges, separated by spaces; null: any IP address. */
  readonly addresses: string | null;
  /** JSON. */
  readonly metadata: string | null;
  /** Limits of the key and of its account: JSON in canonical form. */
  readonly limits: string | null;
  readonly accountLimits: string | null;
  /** The end of the overlap, for a previous secret; null for the current one. */
  readonly overlapEndsAt: number | null;
  /** Scopes that the catalogue withholds, separated by spaces; null or undefined if there are none. */
  readonly withheld?: string | null;
  /** The name of a further environment; null or undefined for the first one. */
  readonly environment?: string | null;
  /** The time of the database at the read, for a secret that expires; null on SQLite, which has the clock of the process. */
  readonly readAt: number | null;
  /** Of a short-lived secret, in milliseconds. */
  readonly secretIssuedAt?: number;
  readonly secretEndsAt?: number;
  /** Of the identity token that was exchanged for it; null without one. */
  readonly secretIssuerId?: number | null;
}

/** A row of SQLite, which has no `readAt`. */
export type StateColumns = readonly [
  ordinal: number,
  id: number,
  accountId: string,
  nickname: string,
  scopes: string,
  needsRole: number,
  ownerRole: string,
  expiresAt: number | null,
  updatedAt: number,
  createdAt: number,
  accountDisabledAt: number | null,
  disabledAt: number | null,
  addresses: string | null,
  metadata: string | null,
  bothLimits: string | null,
  overlapEndsAt?: number | null,
  withheld?: string | null,
  environment?: string | null,
];
// The read of every verification: the key by its hash, with its account in the same snapshot. No client can choose the
// hash, which is a MAC, so the time of the comparison discloses nothing.
const limitsColumn = {
  // One column, which is null for most keys: two take 0.1 µs more, of 1.9 µs for the read.
  sqlite: 'case when k.limits is not null or a.limits is not null then json_array(k.limits, a.limits) end',
  postgres: 'k.limits, a.limits as "accountLimits"',
};
/** The statement joins `requested`, the key `k` and its account `a`. */
export const stateColumns = (
  dialect: Dialect,
): string => `requested.ordinal, k.id, a.id as "accountId", k.nickname, k.scopes, k.scopes_need_role as "needsRole", a.role as "ownerRole", k.expires_at as "expiresAt",
     k.updated_at as "updatedAt", k.created_at as "createdAt", a.disabled_at as "accountDisabledAt", k.disabled_at as "disabledAt",
     k.addresses, k.metadata, ${limitsColumn[dialect]}`;
const currentColumns = {
  // Without the columns that are always null, which take 3 % of the time of the read.
  sqlite: stateColumns('sqlite'),
  // Keys that do not expire, the most frequent ones, need no time of the database.
  postgres: `${stateColumns('postgres')}, null::bigint as "overlapEndsAt",
     case when k.expires_at is not null then ${databaseTime.postgres} end as "readAt"`,
};
/** For installations with a scope catalogue or environments. */
export const extension = {
  sqlite: `${withheldColumn('sqlite')}, k.environment`,
  postgres: `${withheldColumn('postgres')}, k.environment`,
};
const currentColumnsExtended = {
  sqlite: `${currentColumns.sqlite}, null, ${extension.sqlite}`,
  postgres: `${currentColumns.postgres}, ${extension.postgres}`,
};
const ofPrevious = (dialect: Dialect): string => `${stateColumns(dialect)}, s.expires_at as "overlapEndsAt"`;
const previousColumns = {
  sqlite: ofPrevious('sqlite'),
  postgres: `${ofPrevious('postgres')}, ${databaseTime.postgres} as "readAt"`,
};
const previousColumnsExtended = {
  sqlite: `${previousColumns.sqlite}, ${extension.sqlite}`,
  postgres: `${previousColumns.postgres}, ${extension.postgres}`,
};
/** The statement of a read: its columns, and the joins of the tables up to the key `k`. */
export const withRequested = {
  // `cross join` keeps the order of the tables.
  sqlite: (columns: string, joins: string) => `with requested (ordinal, lookup, key_hash) as ($requested)
   select ${columns} from requested cross ${joins} cross join accounts a on a.pk = k.account_pk`,
  postgres: (columns: string, joins: string) => `select ${columns}
   from unnest($1::bigint[], $2::bytea[]) with ordinality as requested (lookup, key_hash, ordinal) ${joins}
     join accounts a on a.pk = k.account_pk`,
};
/** Without environments, no key of a further one is found. */
export const isOfFirst = 'k.environment is null';
type TwoLimits = readonly [ofKey: string | null, ofAccount: string | null];
const noLimits: TwoLimits = [null, null];
export const toState = ([
  ,
  id,
  accountId,
  nickname,
  scopes,
  needsRole,
  ownerRole,
  expiresAt,
  updatedAt,
  createdAt,
  accountDisabledAt,
  disabledAt,
  addresses,
  metadata,
  bothLimits,
  overlapEndsAt = null,
  withheld = null,
  environment = null,
]: StateColumns): KeyState => {
  const [limits, accountLimits] = bothLimits === null ? noLimits : (JSON.parse(bothLimits) as TwoLimits);
  return {
    id,
    accountId,
    nickname,
    scopes,
    needsRole,
    ownerRole,
    expiresAt,
    updatedAt,
    createdAt,
    accountDisabledAt,
    disabledAt,
    addresses,
    metadata,
    limits,
    accountLimits,
    overlapEndsAt,
    withheld,
    environment,
    readAt: null,
  };
};
type ByDialect = Readonly<Record<Dialect, string>>;
const selectWith = (name: string, columns: ByDialect, joins: (join: string) => string, condition = '') =>
  sqlMany<KeyState>(
    name,
    {
      sqlite: withRequested.sqlite(columns.sqlite, joins('cross join') + condition),
      postgres: withRequested.postgres(columns.postgres, joins('join') + condition),
    },
    toState,
  );
const byCurrent = (): string =>
  `join api_keys k on k.lookup = requested.lookup and k.key_hash = requested.key_hash and ${mayJudge}`;
const byPrevious = (join: string): string =>
  `join api_key_secrets s on s.lookup = requested.lookup and s.key_hash = requested.key_hash ${join} api_keys k on k.id = s.key_id and ${mayJudge}`;
const andOfFirst = ` and ${isOfFirst}`;
const selectState = selectWith('select_api_key_state', currentColumns, byCurrent, andOfFirst);
const selectStateExtended = selectWith('select_api_key_state', currentColumnsExtended, byCurrent);
const selectPreviousState = selectWith('select_previous_api_key_state', previousColumns, byPrevious, andOfFirst);
const selectPreviousStateExtended = selectWith('select_previous_api_key_state', previousColumnsExtended, byPrevious);
/** @param isExtended whether the installation has a scope catalogue or environments, which only then are read */
export type FindKeyStates = (
  db: Db,
  hashes: readonly Buffer[],
  isExtended?: boolean,
) => Promise<(KeyState | undefined)[]>;

export const toLookups = (hashes: readonly Buffer[]) => hashes.map((hash) => [lookupOf(hash), hash]);

/** States of keys, in the order of their stored hashes, from one snapshot taken after the call. */
export const findKeyStates: FindKeyStates = (db, hashes, isExtended) =>
  db.getMany(isExtended ? selectStateExtended : selectState, toLookups(hashes));

/** The same by previous secrets, also those whose overlap has ended. */
export const findPreviousKeyStates: FindKeyStates = (db, hashes, isExtended) =>
  db.getMany(isExtended ? selectPreviousStateExtended : selectPreviousState, toLookups(hashes));

/** When the presented secret ends. */
export function endOf({ expiresAt, overlapEndsAt, secretEndsAt }: KeyState): number | null {
  const end = overlapEndsAt === null ? expiresAt : endOfPrevious(overlapEndsAt, expiresAt);
  return secretEndsAt === undefined ? end : Math.min(secretEndsAt, end ?? Infinity);
}
