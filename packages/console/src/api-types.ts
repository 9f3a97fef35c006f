/** The types of the API's requests and responses. They derive from the contract, of which no code is in the bundle. */
import type * as contract from '@keyreeve/contract';
import type { Static, TSchema } from 'typebox';

type Contract = typeof contract;
export type Routes = {
  [
    K in keyof Contract as Contract[K] extends {
      method: infer M extends string;
      path: infer P extends string;
      auth: string;
    }
      ? // A route that a function of the contract makes has no literal path.
        string extends P
        ? never
        : `${M} ${P}`
      : never
  ]: Contract[K];
};
/** Routes below `/console/api`, which need the session. */
type SessionAuth = 'access_token' | 'administrator' | 'manager';
/** For example `POST /auth/api-keys`. */
export type SessionRoute = {
  [K in keyof Routes]: Routes[K] extends { auth: SessionAuth } ? K : never;
}[keyof Routes];
/** Routes for the keys of one account. */
export type KeyRoute = Extract<SessionRoute, `${string} /auth/api-keys${string}`>;
/** Routes that need no session, and those of the session itself. */
export type OpenRoute = Exclude<keyof Routes, SessionRoute>;

type ValueOf<S> = S extends TSchema ? Static<S> : never;
type PathNames<P> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
type PartOf<Name extends string, V> = [V] extends [never] ? unknown : { readonly [K in Name]: V };
type QueryOf<R> = R extends { query: infer Q } ? { readonly query?: ValueOf<Q> } : unknown;
type BodyOf<R> = R extends { body: { schema: infer S; isOptional: true } }
  ? { readonly body?: ValueOf<S> }
  : R extends { body: { schema: infer S } }
    ? { readonly body: ValueOf<S> }
    : unknown;
interface Common {
  /** Polling: the request does not extend the session. */
  readonly isBackground?: boolean;
  readonly signal?: AbortSignal;
}
/** The parts of a request: `params`, `query` and `body` as the contract defines them. */
export type RequestOf<K extends keyof Routes> = Common &
  PartOf<'params', [PathNames<K>] extends [never] ? never : Readonly<Record<PathNames<K>, string | number>>> &
  QueryOf<Routes[K]> &
  BodyOf<Routes[K]>;
export type ResponseOf<K extends keyof Routes> = Routes[K] extends { success: { schema: infer S } }
  ? ValueOf<S>
  : undefined;
export type Arguments<K extends keyof Routes> =
  {} extends RequestOf<K> ? [request?: RequestOf<K>] : [request: RequestOf<K>];

export interface AnyRequest extends Common {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}
