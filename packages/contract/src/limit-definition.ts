/** What a table of limits states about each bound. */

export interface Limit {
  readonly value: number;
  /** Sentences for the page. The page explains "More: 429." */
  readonly why: string;
  /** What a client beyond a bound that it can meet gets: a code of the registry of errors, or words such as "the connection closes". */
  readonly answer?: string;
}

export type Limits = Readonly<Record<string, Limit>>;

export const limit = (value: number, why: string, answer?: string): Limit => ({
  value,
  why,
  ...(answer !== undefined && { answer }),
});
