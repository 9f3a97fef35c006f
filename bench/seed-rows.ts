/** The rows that a benchmark's database is filled with. */

export interface AccountRow {
  readonly pk: number;
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
}

export interface KeyRow {
  readonly lookup: number;
  readonly hash: Buffer;
  readonly id: number;
  readonly accountPk: number;
  readonly nickname: string;
  readonly scopes: string;
}

/** Bulk insertion into one kind of database. */
export interface Rows {
  account(row: AccountRow): Promise<void> | void;
  key(row: KeyRow): Promise<void> | void;
  /** Writes the remaining rows and updates the statistics of the query planner. */
  finish(): Promise<void>;
}
