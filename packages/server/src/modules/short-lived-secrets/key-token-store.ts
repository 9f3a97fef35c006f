/** The table of the last identity tokens of keys with a trust. */
import { limits } from '@keyreeve/contract';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

export interface KeyTokenRow {
  readonly isAccepted: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly issuer: string;
  /** The claim `sub`; null without one. */
  readonly subject: string | null;
  /** Of a rejected one; otherwise null. */
  readonly reason: string | null;
  /** JSON, of a rejected one; otherwise null. */
  readonly claims: string | null;
}

const of = 'key_tokens where key_id = $1 and is_accepted = $2';
// The slot of the row that the new one replaces: a free one while there is any, then that of the oldest row. A rejected token of
// the same workload replaces its own row, so that one workload hides no others.
const slot = `coalesce((select min(slot) from ${of} and $2 = 0 and subject = $5 and issuer = $4),
     (select case when count(*) < ${limits.keyTokensMax} then count(*) end from ${of}),
     (select slot from ${of} order by at, slot limit 1))`;
// $8: a row that is newer stays. Any client with a token of the issuer can cause a rejection.
const upsert = sql('record_key_token', {
  sqlite: textOf(slot),
  postgres: textOf(slot.replaceAll(/\$[45]/g, '$&::text').replaceAll('$2 = 0', '$2::integer = 0')),
});
function textOf(ofSlot: string): string {
  return `insert into key_tokens (key_id, is_accepted, slot, at, issuer, subject, reason, claims)
   select $1, $2, ${ofSlot}, $3, $4, $5, $6, $7 from api_keys where id = $1
   on conflict (key_id, is_accepted, slot) do update set at = excluded.at, issuer = excluded.issuer,
     subject = excluded.subject, reason = excluded.reason, claims = excluded.claims where key_tokens.at <= $8`;
}
const list = sql<KeyTokenRow>(
  'list_key_tokens',
  `select is_accepted as "isAccepted", at, issuer, subject, reason, claims from key_tokens where key_id = $1
   order by at desc, slot desc`,
);

/** Newest first. */
export const listKeyTokens = (reader: Pick<Reader, 'all'>, keyId: number): Promise<KeyTokenRow[]> =>
  reader.all(list, [keyId]);

/**
 * Records a token in place of the oldest one of the same kind. The caller has locked the key. A row of the last
 * `limits.rejectedTokenSeconds` is not replaced by a rejected token.
 */
export async function recordKeyTokenTx(tx: Transaction, keyId: number, row: KeyTokenRow): Promise<void> {
  const { isAccepted, at, issuer, subject, reason, claims } = row;
  const replacedUntil = isAccepted === 1 ? Number.MAX_SAFE_INTEGER : replaceableUntil(at);
  await tx.run(upsert, [keyId, isAccepted, at, issuer, subject, reason, claims, replacedUntil]);
}

/** Whether {@link recordKeyTokenTx} would replace no row. @param rows newest first */
export function isRecordingRefused(rows: readonly KeyTokenRow[], row: KeyTokenRow): boolean {
  const rejected = rows.filter(({ isAccepted }) => isAccepted === 0);
  const own = rejected.find(({ issuer, subject }) => issuer === row.issuer && subject === row.subject);
  const replaced = own ?? (rejected.length < limits.keyTokensMax ? undefined : rejected.at(-1));
  return replaced !== undefined && replaced.at > replaceableUntil(row.at);
}

const replaceableUntil = (at: number): number => at - limits.rejectedTokenSeconds * 1_000;
