/** What a benchmark's database contains: accounts and API keys in Keyreeve's formats, written by `seed.ts`. */
import type { Pool } from './request.ts';

export interface Seeded {
  readonly databaseUrl: string;
  /** Encoded as base64url. */
  readonly masterKey: string;
  /** Keys of accounts without sign-ins, so none of them is deleted. */
  readonly keys: Pool;
  /** Has the scope `keyreeve:verify`. */
  readonly serviceKey: string;
  readonly accounts: number;
}

/** The argument of `seed.ts`, as JSON. */
export interface SeedOptions {
  /** Of a missing or empty database. */
  readonly databaseUrl: string;
  readonly poolPath: string;
  readonly keys: number;
  /** Whether accounts that sign in have further keys, which a figure deletes. Default: true. */
  readonly hasDeletableKeys?: boolean;
}

export const password = 'correct horse battery staple';
/** Number of accounts, the first ones, that sign in to create and delete keys. */
export const signedInAccounts = 100;
export const keysPerAccount = 400;
/** All ids have the same number of digits. */
export const keyIdBytes = 16;
const firstKeyId = 1_000_000_000_000_000;

/** @param index of a seeded key */
export const keyIdAt = (index: number): number => firstKeyId + index * 7_919;
export const emailAt = (account: number): string => `bench${String(account).padStart(7, '0')}@example.com`;
export const basicOf = (account: number): string => Buffer.from(`${emailAt(account)}:${password}`).toString('base64');

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
