/** SQL of issuers of identity tokens. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql } from '../../foundation/database/sql.ts';

/** Texts as they are stored; `settingsOf` in issuer.ts reads them. */
export interface IssuerRow {
  readonly id: number;
  /** The service account whose keys may trust it; null: keys of all accounts. */
  readonly accountId: string | null;
  /** The claim `iss`, character for character. */
  readonly url: string;
  readonly preset: string | null;
  /** Separated by spaces. Empty: it accepts no token. */
  readonly algorithms: string;
  /** The longest accepted time from `iat` to `exp`. */
  readonly lifetimeSeconds: number;
  readonly replay: string;
  /** JSON arrays of JSON pointers. */
  readonly idClaims: string;
  readonly listClaims: string;
  /** A fixed JWK set, in JSON; null: it is fetched. */
  readonly jwks: string | null;
  /** Increases with each change that removes rights. */
  readonly version: number;
  /** Increases with each demand to fetch the JWK set anew. */
  readonly refreshes: number;
  readonly createdAt: number;
  /** Each change has a later time than the previous one. */
  readonly updatedAt: number;
}

export interface CountedIssuerRow extends IssuerRow {
  /** Keys that trust it, also with a previous trust. */
  readonly keyCount: number;
}

/** SQL: the columns of {@link IssuerRow} for `issuers i left join accounts ia on ia.pk = i.account_pk`. */
const columns = `i.id, ia.id as "accountId", i.url, i.preset, i.algorithms, i.lifetime_seconds as "lifetimeSeconds", i.replay,
  i.id_claims as "idClaims", i.list_claims as "listClaims", i.jwks, i.version, i.refreshes, i.created_at as "createdAt",
  i.updated_at as "updatedAt"`;
const from = `from issuers i left join accounts ia on ia.pk = i.account_pk`;
const counted = `${columns}, (select count(*) from (select k.id from api_keys k where k.issuer_id = i.id
    union select s.key_id from api_key_secrets s where s.issuer_id = i.id) trusting) as "keyCount"`;

const listCommon = sql<CountedIssuerRow>(
  'list_common_issuers',
  `select ${counted} ${from} where i.account_pk is null order by i.created_at, i.id`,
);
const listOfAccount = sql<CountedIssuerRow>(
  'list_issuers_of_account',
  `select ${counted} ${from} where ia.id = $1 order by i.created_at, i.id`,
);
const selectCounted = sql<CountedIssuerRow>('select_counted_issuer', `select ${counted} ${from} where i.id = $1`);
const select = sql<IssuerRow>('select_issuer', `select ${columns} ${from} where i.id = $1`);
const lock = sql<CountedIssuerRow>('lock_issuer', {
  sqlite: `select ${counted} ${from} where i.id = $1`,
  postgres: `select ${counted} ${from} where i.id = $1 for update of i`,
});
// The own one of the account first.
const selectFor = sql<IssuerRow>(
  'select_issuers_for',
  `select ${columns} ${from} where i.url = $1 and (i.account_pk is null or ia.id = $2)
   order by case when i.account_pk is null then 1 else 0 end`,
);
const count = sql<{ count: number }>(
  'count_issuers',
  `select count(*) as count ${from} where coalesce(ia.id, '') = $1`,
);
// The unique indexes decide.
const insert = sql(
  'insert_issuer',
  `insert into issuers (id, account_pk, url, preset, algorithms, lifetime_seconds, replay, id_claims, list_claims, jwks,
     version, refreshes, created_at, updated_at)
   values ($1, (select pk from accounts where id = $2), $3, $4, $5, $6, $7, $8, $9, $10, 1, 0, $11, $11)
   on conflict do nothing`,
);
const update = sql(
  'update_issuer',
  `update issuers set algorithms = $2, lifetime_seconds = $3, replay = $4, id_claims = $5, list_claims = $6, jwks = $7,
     version = $8, updated_at = $9 where id = $1`,
);
const raise = sql('raise_issuer_refreshes', `update issuers set refreshes = refreshes + 1 where id = $1`);
const remove = sql('remove_issuer', `delete from issuers where id = $1`);
// Repetitions of changes of the deletion journal, which has no settings of issuers. The time is that of the event of the
// repetition, which becomes an entry of the journal too.
const voidListed = sql(
  'replay_narrowed_issuers',
  onList(`update issuers set algorithms = '', version = version + 1,
     updated_at = (select max(case when given.at >= $2 then given.at + 1 else $2 end) from {dated} where given.id = cast(issuers.id as text))
   where cast(id as text) in (select given.id from {dated})`),
);
const removeListed = sql(
  'replay_removed_issuers',
  onList(`delete from issuers where cast(id as text) in (select given.id from {dated})`),
);

/** Those of a service account, or the common ones; oldest first. */
export const listIssuers = (reader: Reader, accountId: string | null): Promise<CountedIssuerRow[]> =>
  accountId === null ? reader.all(listCommon) : reader.all(listOfAccount, [accountId]);

export const findCountedIssuer = (reader: Pick<Reader, 'get'>, id: number): Promise<CountedIssuerRow | undefined> =>
  reader.get(selectCounted, [id]);

export const findIssuer = (reader: Pick<Reader, 'get'>, id: number): Promise<IssuerRow | undefined> =>
  reader.get(select, [id]);

/**
 * The issuers with the URL that a key of the account may trust: that of the account first, then the common one.
 * @param accountId empty: the common one only
 */
export const findIssuersFor = (reader: Pick<Reader, 'all'>, accountId: string, url: string): Promise<IssuerRow[]> =>
  reader.all(selectFor, [url, accountId]);

/** On PostgreSQL, no other change of the issuer commits before the transaction ends. */
export const lockIssuerTx = (tx: Transaction, id: number): Promise<CountedIssuerRow | undefined> => tx.get(lock, [id]);

export const countIssuersTx = async (tx: Transaction, accountId: string | null): Promise<number> =>
  (await tx.get(count, [accountId ?? '']))?.count ?? 0;

/** @returns false if an issuer with the URL exists */
export async function insertIssuerTx(tx: Transaction, row: IssuerRow): Promise<boolean> {
  const { id, accountId, url, preset, algorithms, lifetimeSeconds, replay, idClaims, listClaims, jwks, createdAt } =
    row;
  const settings = [algorithms, lifetimeSeconds, replay, idClaims, listClaims, jwks];
  return (await tx.run(insert, [id, accountId, url, preset, ...settings, createdAt])) > 0;
}

/** Stores what a change can change. */
export async function updateIssuerTx(tx: Transaction, row: IssuerRow): Promise<void> {
  const { id, algorithms, lifetimeSeconds, replay, idClaims, listClaims, jwks, version, updatedAt } = row;
  await tx.run(update, [id, algorithms, lifetimeSeconds, replay, idClaims, listClaims, jwks, version, updatedAt]);
}

/** The time of the last change stays: a refresh replaces no narrowing that is repeated by this time. */
export const raiseRefreshesTx = async (tx: Transaction, id: number): Promise<void> => void (await tx.run(raise, [id]));

/** @returns false if there is none */
export const removeIssuerTx = async (tx: Transaction, id: number): Promise<boolean> => (await tx.run(remove, [id])) > 0;

/** For a replay of the deletion journal, which records the events: they accept no token until their settings are stated again. */
export const voidIssuersTx = async (tx: Transaction, changes: readonly DatedId[], now: number): Promise<void> =>
  void (await tx.run(voidListed, [JSON.stringify(changes), now]));

/** For a replay of the deletion journal, which records the events. */
export const removeIssuersTx = async (tx: Transaction, changes: readonly DatedId[]): Promise<void> =>
  void (await tx.run(removeListed, [JSON.stringify(changes)]));
