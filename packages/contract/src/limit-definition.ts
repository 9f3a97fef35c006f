/** What a table of limits states about each bound. */

export interface Limit {
  readonly value: number;
  /** Sentences for the page. The page explains "More: 429." */
  readonly why: string;
}

export type Limits = Readonly<Record<string, Limit>>;

export const limit = (value: number, why: string): Limit => ({ value, why });
