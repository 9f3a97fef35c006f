/**
 * What the other system stated about an account when it was imported. A later import compares it with the new file: only
 * what has changed there is taken over, and only while the account has not changed here.
 */
export interface ImportRecord {
  /** `updated_at` of the account after the import. A later change of the account here sets another one. */
  readonly at: number;
  /** A MAC of the password hash as the file had it ({@link PasswordHasher.fingerprint}). Empty for none. */
  readonly hash: string;
  readonly disabled: boolean;
  readonly verified: boolean;
}

export const encodeImportRecord = ({ at, hash, disabled, verified }: ImportRecord): string =>
  JSON.stringify({ at, hash, disabled, verified });

/** @param text of the column; null for an account that no import has created */
export const decodeImportRecord = (text: string | null): ImportRecord | undefined =>
  text === null ? undefined : (JSON.parse(text) as ImportRecord);
