/** The state of keys by their short-lived secrets, which verification reads. */
import type { Dialect } from '../../foundation/database/sql.ts';
import { databaseTime, sqlMany } from '../../foundation/database/sql.ts';
import {
  extension,
  isOfFirst,
  stateColumns,
  toLookups,
  toState,
  withRequested,
  type FindKeyStates,
  type KeyState,
  type StateColumns,
} from '../api-keys/state-store.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';

// A secret that a previous public key or trust issued ends with the overlap, and its use is a use of the previous one.
const ofKey = (dialect: Dialect): string => `${stateColumns(dialect)}, p.expires_at as "overlapEndsAt"`;
const ofSecret = 's.created_at as "secretIssuedAt", s.expires_at as "secretEndsAt", s.issuer_id as "secretIssuerId"';
const columns = {
  sqlite: `${ofKey('sqlite')}, ${ofSecret}`,
  postgres: `${ofKey('postgres')}, ${ofSecret}, ${databaseTime.postgres} as "readAt"`,
};
const columnsExtended = {
  sqlite: `${ofKey('sqlite')}, ${extension.sqlite}, ${ofSecret}`,
  postgres: `${columns.postgres}, ${extension.postgres}`,
};
// A secret is valid while the public key or the trust that issued it is the current or the previous one of the key, and its
// issuer, if any, exists and has not been narrowed since.
const joinsWith = (join: string): string =>
  `join short_lived_secrets s on s.lookup = requested.lookup and s.key_hash = requested.key_hash
     ${join} api_keys k on k.id = s.key_id and ${mayJudge}
     left join api_key_secrets p on p.lookup = s.issued_by and p.key_id = s.key_id
     left join issuers i on i.id = s.issuer_id`;
const isIssuerValid =
  '(k.lookup = s.issued_by or p.lookup is not null) and (s.issuer_id is null or i.version = s.issuer_version)';
const where = `where ${isIssuerValid} and ${isOfFirst}`;
const whereExtended = `where ${isIssuerValid}`;

const toShortLivedState = (row: readonly unknown[]): KeyState => ({
  ...toState(row.slice(0, -3) as unknown as StateColumns),
  secretIssuedAt: row.at(-3) as number,
  secretEndsAt: row.at(-2) as number,
  secretIssuerId: row.at(-1) as number | null,
});

const selectState = sqlMany<KeyState>(
  'select_short_lived_secret_state',
  {
    sqlite: `${withRequested.sqlite(columns.sqlite, joinsWith('cross join'))} ${where}`,
    postgres: `${withRequested.postgres(columns.postgres, joinsWith('join'))} ${where}`,
  },
  toShortLivedState,
);
const selectStateExtended = sqlMany<KeyState>(
  'select_short_lived_secret_state',
  {
    sqlite: `${withRequested.sqlite(columnsExtended.sqlite, joinsWith('cross join'))} ${whereExtended}`,
    postgres: `${withRequested.postgres(columnsExtended.postgres, joinsWith('join'))} ${whereExtended}`,
  },
  toShortLivedState,
);

/** States of keys by the stored hashes of short-lived secrets, also of those that have ended, in order, from one snapshot. */
export const findShortLivedKeyStates: FindKeyStates = (db, hashes, isExtended) =>
  db.getMany(isExtended ? selectStateExtended : selectState, toLookups(hashes));
