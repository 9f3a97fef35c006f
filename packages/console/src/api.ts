/**
 * The client of the API. `call` sends a request with the console's session, `send` one without it. Their types derive from
 * the contract, of which no code is in the bundle.
 */
import type * as contract from '@keyreeve/contract';
import type { Static, TSchema } from 'typebox';
import { Problem, unreachable } from './problem.ts';
import { basePath } from './root.ts';

type Contract = typeof contract;
type Routes = {
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
type Arguments<K extends keyof Routes> = {} extends RequestOf<K> ? [request?: RequestOf<K>] : [request: RequestOf<K>];

interface AnyRequest extends Common {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** What a failed request of the session causes besides its error. `session.ts` sets it. */
export const onFailure: { handle: (problem: Problem, isRetry: boolean) => Promise<'retry' | 'fail'> } = {
  handle: async () => 'fail',
};

/** @throws Problem */
export async function call<K extends SessionRoute>(route: K, ...[request]: Arguments<K>): Promise<ResponseOf<K>> {
  return (await ofSession(route, request, exchange)) as ResponseOf<K>;
}

/** The body of a response as a file. @throws Problem, also if the connection ends in the middle */
export async function download<K extends SessionRoute>(route: K, ...[request]: Arguments<K>): Promise<Blob> {
  return ofSession(route, request, async (...parts) => {
    const response = await fetchOf(...parts);
    return response.blob().catch(() => {
      throw unreachable();
    });
  });
}

type Exchange<T> = (method: string, path: string, request: AnyRequest | undefined) => Promise<T>;

/** Repeats a request once after a failure that the session can resolve. */
async function ofSession<T>(route: string, request: AnyRequest | undefined, transfer: Exchange<T>): Promise<T> {
  const [method, path] = partsOf(route);
  const attempt = () => transfer(method, `/console/api${path}`, request);
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Problem) || (await onFailure.handle(error, false)) === 'fail') throw error;
  }
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Problem) await onFailure.handle(error, true);
    throw error;
  }
}

/** @throws Problem */
export async function send<K extends OpenRoute>(route: K, ...[request]: Arguments<K>): Promise<ResponseOf<K>> {
  const [method, path] = partsOf(route);
  return (await exchange(method, path, request)) as ResponseOf<K>;
}

function partsOf(route: string): [method: string, path: string] {
  const space = route.indexOf(' ');
  return [route.slice(0, space), route.slice(space + 1)];
}

async function exchange(method: string, path: string, request: AnyRequest = {}): Promise<unknown> {
  const response = await fetchOf(method, path, request);
  if (response.status === 204) return undefined;
  return response.json().catch((error: unknown) => {
    throw request.signal?.aborted ? error : unreachable();
  });
}

/** @returns a response with a status of success */
async function fetchOf(method: string, path: string, request: AnyRequest = {}): Promise<Response> {
  const { params = {}, query = {}, body, isBackground = false, signal } = request;
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const search = new URLSearchParams();
  // An empty filter sends no parameter.
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'X-Keyreeve-Console': isBackground ? 'background' : 'user',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(basePath + (search.size > 0 ? `${url}?${search}` : url), {
    method,
    headers,
    credentials: 'same-origin',
    redirect: 'error',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : unreachable();
  });
  if (!response.ok) throw await Problem.from(response);
  return response;
}
