/** The table of `guards.json`, with its types. The README defines the columns. */
import { readFileSync } from 'node:fs';

export type HeaderLine = readonly [name: string, value: string];

export interface Credential {
  /** Stands for the credential in replayed cases. */
  readonly text: string;
  /** Body of `POST /auth/api-keys`. */
  readonly key?: Readonly<Record<string, unknown>>;
  readonly then?: 'delete' | 'disable';
  readonly accessToken?: true;
}

export interface ReplayedAnswer {
  readonly results?: readonly unknown[];
  readonly status?: number;
  readonly headers?: readonly HeaderLine[];
  readonly body?: unknown;
  readonly network?: 'refused' | 'closed' | 'reset' | 'truncated' | 'garbage' | 'silent' | 'stalled';
}

export interface Expected {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly ignored?: readonly string[];
  readonly problem?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly seconds?: number;
}

export interface GuardCase {
  readonly name: string;
  readonly guard?: Readonly<Record<string, unknown>>;
  readonly request: { readonly method?: string; readonly target?: string; readonly headers: readonly HeaderLine[] };
  readonly question: Readonly<Record<string, unknown>> | null;
  readonly answer?: ReplayedAnswer;
  readonly expect: Expected;
  readonly real?: true;
}

/** Questions that one client asks at once, and which of them the service rejects. */
export interface BatchCase {
  readonly name: string;
  readonly questions: readonly { readonly credential: string; readonly options: Readonly<Record<string, unknown>> }[];
  /** The service rejects a batch with one of them. */
  readonly unknownEnvironments: readonly string[];
  /** By question: whether its caller gets the accepted result, or none. */
  readonly expect: readonly ('accepted' | 'unavailable')[];
}

export interface GuardTable {
  readonly problems: Readonly<Record<string, { status: number; title: string; detail: string }>>;
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly cases: readonly GuardCase[];
  readonly batches: readonly BatchCase[];
}

export const guardTable = JSON.parse(readFileSync(new URL('guards.json', import.meta.url), 'utf8')) as GuardTable;

/** Replaces `{name}`, and then `base64(…)`, in every text of a value. @param texts by name */
export const fillIn = <T>(value: T, texts: Readonly<Record<string, string>>): T =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'string'
      ? part
          .replaceAll(/\{(\w+)\}/g, (all, name: string) => texts[name] ?? all)
          .replaceAll(/base64\(([^)]*)\)/g, (_all, text: string) => Buffer.from(text).toString('base64'))
      : part,
  ) as T;
