/** SQL: which scopes of a key are not in force. */
import type { Dialect } from '../../foundation/database/sql.ts';

const columns: Readonly<Record<Dialect, string>> = {
  // A scope contains neither a quote nor a backslash (RFC 6749 section 3.3), so the text becomes a JSON array.
  sqlite: `(select group_concat(s.name, ' ')
     from json_each('["' || replace(k.scopes, ' ', '","') || '"]') held cross join scopes s on s.name = held.value
     where s.deleted_at is not null or s.needs_entitlement = 1
       and instr(' ' || coalesce(a.entitlements, '') || ' ', ' ' || s.name || ' ') = 0)`,
  postgres: `(select string_agg(s.name, ' ') from scopes s
     where s.name = any (string_to_array(k.scopes, ' ')) and (s.deleted_at is not null or s.needs_entitlement = 1
       and s.name <> all (string_to_array(coalesce(a.entitlements, ''), ' '))))`,
};

/**
 * Of a key `k` of an account `a`: its deleted scopes, and those that need an entitlement that the account lacks, separated
 * by spaces; null if there are none. Scopes that were never declared are in force.
 */
export const withheldColumn = (dialect: Dialect): string =>
  `case when k.scopes <> '' then ${columns[dialect]} end as "withheld"`;

/** @param withheld the value of {@link withheldColumn}; absent if the catalogue is not enforced */
export function withoutWithheld(scopes: string, withheld: string | null | undefined): string {
  if (withheld === null || withheld === undefined) return scopes;
  const missing = new Set(withheld.split(' '));
  return scopes
    .split(' ')
    .filter((scope) => !missing.has(scope))
    .join(' ');
}
