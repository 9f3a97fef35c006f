/**
 * Reads `synchronous_standby_names`: whether each standby in it has confirmed a write. One that may be promoted is in it, so this
 * shows that none was promoted before the write
 * (https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES).
 */

interface StandbyNames {
  /** How many of them confirm each commit. */
  readonly confirming: number;
  readonly names: readonly string[];
}

/** @param confirmed application names of the standbys that have confirmed the write @returns why it proves nothing */
export function lackOfProof(setting: string, confirmed: readonly string[]): string | undefined {
  const { confirming, names } = parse(setting);
  if (names.length === 0) return 'synchronous_standby_names is empty, so commits wait for no standby';
  // With `*`, or with fewer than all, the standbys that are left confirm after one of them was promoted.
  if (names.includes('*') || confirming < names.length)
    return `synchronous_standby_names is '${setting}'; it must be the name of one standby, or have commits wait for each that it names`;
  const known = new Set(confirmed.map((name) => name.toLowerCase()));
  const missing = names.filter((name) => !known.has(name.toLowerCase()));
  return missing.length === 0 ? undefined : `the standby ${missing.join(', ')} has not confirmed a write`;
}

/** Of `a, b`, `2 (a, b)`, `FIRST 2 (a, b)` and `ANY 2 (a, b)`. PostgreSQL has checked the syntax. */
function parse(setting: string): StandbyNames {
  const listed = /^\s*(?:(?:any|first)\s+)?(\d+)\s*\((.*)\)\s*$/is.exec(setting);
  const list = listed?.[2] ?? setting;
  const names = Array.from(list.matchAll(/"((?:[^"]|"")*)"|[^\s,"]+/g), ([name, quoted]) =>
    quoted === undefined ? name : quoted.replaceAll('""', '"'),
  );
  return { confirming: Number(listed?.[1] ?? 1), names };
}
