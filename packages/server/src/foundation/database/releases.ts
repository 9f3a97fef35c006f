/** Which releases can use a database. */

interface Release {
  readonly name: string;
  /** The newest schema that it supports. */
  readonly schema: number;
}

/** Oldest first. Each release adds a line here, and in the table of docs/upgrade.md. */
export const releases: readonly Release[] = [{ name: '1.0.0', schema: 1 }];

/** @returns undefined if no release can use the database, only later versions */
export const oldestReleaseFor = (compatibleFrom: number): string | undefined =>
  releases.find(({ schema }) => schema >= compatibleFrom)?.name;
