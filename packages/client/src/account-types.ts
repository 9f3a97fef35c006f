/** The requests and responses of the account and key endpoints. A test compares them with the service's contract. */

export interface TokenPair {
  /** Valid for minutes. */
  readonly accessToken: string;
  /** Replaced by each refresh. */
  readonly refreshToken: string;
}

/** `per` is a duration such as `minute` or `month`; the service's documentation lists them. */
export type KeyLimits = Readonly<Record<string, unknown>>;

export interface NewKey {
  /** Unique among the account's keys. */
  readonly nickname: string;
  readonly scopes?: string[];
  /** RFC 3339. */
  readonly expiresAt?: string | null;
  /** IP addresses and ranges. */
  readonly addresses?: string[] | null;
  readonly metadata?: Record<string, unknown> | null;
  readonly environment?: string;
  readonly limits?: KeyLimits | null;
}

export interface ListedKey {
  readonly id: number;
  readonly nickname: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CreatedKey extends ListedKey {
  /** The secret. No other response has it. */
  readonly key: string;
}

/** A merge patch: absent members keep their values, and null removes a value. */
export type KeyChange = Partial<Omit<NewKey, 'environment'>> & { readonly disabled?: boolean };

export interface KeyDetails extends ListedKey {
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly disabledAt: string | null;
  readonly addresses: readonly string[] | null;
  readonly metadata: object | null;
  readonly lastUsedAt: string | null;
  readonly environment: string | null;
}

export interface Rotation {
  /** For how long the previous secret stays valid. Default: a day. */
  readonly overlapSeconds?: number;
  readonly endPrevious?: boolean;
}

export interface RotatedKey extends CreatedKey {
  /** Null without an overlap. */
  readonly previousExpiresAt: string | null;
}

export interface ListedSession {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly clientIp: string;
  readonly userAgent: string;
  readonly current: boolean;
}
